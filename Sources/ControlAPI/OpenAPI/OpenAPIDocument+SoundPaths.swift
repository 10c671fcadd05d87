extension OpenAPIDocument {
    /// The addresses of sound and of assets.
    static let soundPaths = """
          /v1/rooms/{room}/sound:
            get:
              operationId: readSound
              summary: Tells how the hosts are mixed.
              parameters:
                - $ref: '#/components/parameters/Room'
              \(answers("200", "The settings.", "RoomSoundResource"))
            put:
              operationId: changeSound
              summary: Mixes the hosts differently at once.
              description: For operators, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
              \(body("RoomSoundBody"))
              \(answers("200", "The settings.", "RoomSoundResource"))
          /v1/rooms/{room}/participants/{participant}/sound:
            put:
              operationId: changeParticipantSound
              summary: Mixes one host differently at once.
              description: For operators, and tokens with can_admin streaming. Of somebody who is no host it waits until then.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Participant'
              \(body("ParticipantSoundBody"))
              \(answers("200", "The participant.", "ParticipantResource"))
          /v1/rooms/{room}/assets:
            get:
              operationId: listAssets
              summary: Lists the room's pictures and sounds by name.
              description: For operators.
              parameters:
                - $ref: '#/components/parameters/Room'
              \(answers("200", "All of them.", "AssetList"))
          /v1/rooms/{room}/assets/{asset}:
            get:
              operationId: readAsset
              summary: Reads a picture or sound.
              description: For operators and the room's mixer. If-None-Match is answered with 304.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Asset'
              responses:
                '200':
                  description: The file as it was put there.
                  content:
                    '*/*':
                      schema:
                        type: string
                        format: binary
                '304':
                  description: It is the one that is known already.
                default:
                  $ref: '#/components/responses/Refusal'
            put:
              operationId: storeAsset
              summary: Puts a picture or sound into the room, in place of another one of its name.
              description: >-
                For operators. png, jpeg, webp, gif or bmp up to 5 MiB and 4096 pixels on each side, else 413; mp3, aac,
                wav, ogg or flac up to 20 MiB. What it is its first bytes say.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Asset'
              requestBody:
                required: true
                content:
                  '*/*':
                    schema:
                      type: string
                      format: binary
              \(answers("200", "It is there.", "AssetResource"))
            delete:
              operationId: removeAsset
              summary: Takes a picture or sound out of the room.
              description: For operators.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Asset'
              \(answers("204", "It is gone."))
        """
}
