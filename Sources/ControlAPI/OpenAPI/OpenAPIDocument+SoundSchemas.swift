extension OpenAPIDocument {
    /// The words of sound and of assets.
    static let soundSchemas = """
            AssetList:
              description: 'A room''s pictures and sounds, by name.'
              type: object
              required:
                - assets
              properties:
                assets:
                  type: array
                  items:
                    $ref: '#/components/schemas/AssetResource'
                  description: 'All of them.'
            AssetResource:
              description: 'A picture or sound that was put into a room.'
              type: object
              required:
                - name
                - kind
                - content_type
                - size
                - version
                - date_stored
              properties:
                name:
                  type: string
                  description: 'Its name in the room; asset: and the name is what other fields call it by.'
                kind:
                  type: string
                  description: 'image or sound.'
                content_type:
                  type: string
                  description: 'What its bytes are, such as image/png.'
                size:
                  type: integer
                  description: 'Bytes.'
                version:
                  type: string
                  description: 'Another one for every content that was ever put under the name.'
                date_stored:
                  type: string
                  format: date-time
                  description: 'When it was put there.'
            ParticipantSoundBody:
              description: >-
                The body of PUT /v1/rooms/{room}/participants/{participant}/sound; what is left out stays
                as it is.
              type: object
              properties:
                gain_db:
                  type: number
                  description: 'Decibels, -60 to 12.'
                priority:
                  type: boolean
                  description: 'The others may be turned down under the participant''s speech.'
                return_feed:
                  type: boolean
                  description: 'The program is offered to the participant without its own sound.'
                jitter_target:
                  type: [integer, "null"]
                  description: >-
                    Milliseconds for which the host's picture and sound are held back to even out how they come, 60 to 2000; null takes
                    that of the room.
            ParticipantSoundResource:
              description: 'How one participant is mixed as a host.'
              type: object
              required:
                - gain_db
                - priority
                - return_feed
              properties:
                gain_db:
                  type: number
                  description: 'Decibels, -60 to 12.'
                priority:
                  type: boolean
                  description: 'The others may be turned down under the participant''s speech.'
                return_feed:
                  type: boolean
                  description: 'The program is offered to the participant without its own sound.'
                jitter_target:
                  type: integer
                  description: >-
                    Milliseconds for which the host's picture and sound are held back to even out how they come; absent, it is that of
                    the room.
            RoomSoundBody:
              description: 'The body of PUT /v1/rooms/{room}/sound; what is left out stays as it is.'
              type: object
              properties:
                levelling:
                  type: boolean
                  description: 'Every host is slowly brought to the same loudness.'
                duck:
                  type: string
                  enum: ['off', pinned, priority, both]
                  description: >-
                    Under whose speech all others are turned down: off, pinned, priority or both; priority in a new room.
                duck_db:
                  type: number
                  minimum: -30
                  maximum: 0
                  description: 'How far they are turned down, in decibels, -30 to 0.'
                jitter_target:
                  type: [integer, "null"]
                  minimum: 60
                  maximum: 2000
                  description: >-
                    Milliseconds for which every host's picture and sound are held back to even out how they come, 60 to 2000; null
                    takes that of the program.
            RoomSoundResource:
              description: 'How the sound of a room''s hosts is mixed.'
              type: object
              required:
                - levelling
                - duck
                - duck_db
              properties:
                levelling:
                  type: boolean
                  description: 'Every host is slowly brought to the same loudness.'
                duck:
                  type: string
                  description: >-
                    Under whose speech all others are turned down: off, pinned, priority or both; priority in a new room.
                duck_db:
                  type: number
                  description: 'How far they are turned down, in decibels, -30 to 0.'
                jitter_target:
                  type: integer
                  description: >-
                    Milliseconds for which every host's picture and sound are held back to even out how they come; absent, it is that
                    of the program.
            SyncResource:
              description: 'How a host''s media keeps time, as the mixer measures it.'
              type: object
              required:
                - target_ms
                - offset_ms
                - drift_ppm
                - buffer_ms
                - late
                - duplicated
                - dropped
              properties:
                target_ms:
                  type: number
                  description: 'Milliseconds for which its media is to be held back.'
                offset_ms:
                  type: number
                  description: 'Milliseconds by which the host''s clock is mapped later than at its first packet.'
                drift_ppm:
                  type: number
                  description: 'Parts per million by which the host''s clock runs faster than the program''s.'
                buffer_ms:
                  type: number
                  description: 'Milliseconds of media that wait for their time.'
                late:
                  type: integer
                  description: 'Pictures and frames of sound that came after their time.'
                duplicated:
                  type: integer
                  description: 'Pictures that were shown once more because none was there.'
                dropped:
                  type: integer
                  description: 'Pictures and frames of sound that were left out.'
        """
}
