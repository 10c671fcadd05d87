extension OpenAPIDocument {
    /// The addresses of participants.
    static let participantsPaths = """
          /v1/rooms/{room}/participants:
            post:
              operationId: join
              summary: Joins; the newest of two with the same identity stays.
              parameters:
                - $ref: '#/components/parameters/Room'
              \(body("JoinBody"))
              \(answers("201", "What a client needs to take part.", "JoinAnswer"))
            get:
              operationId: listParticipants
              summary: Lists participants in join order.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Mode'
                - $ref: '#/components/parameters/ParticipantStatus'
                - $ref: '#/components/parameters/PageSize'
                - $ref: '#/components/parameters/PageToken'
              \(answers("200", "A page of participants.", "ParticipantList"))
          /v1/rooms/{room}/participants/{participant}:
            get:
              operationId: readParticipant
              summary: Reads a participant.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Participant'
              \(answers("200", "The participant.", "ParticipantResource"))
            patch:
              operationId: updateParticipant
              summary: Changes the name or the metadata.
              description: For oneself, operators, and tokens with can_admin participants.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Participant'
              \(body("UpdateParticipantBody"))
              \(answers("200", "The participant.", "ParticipantResource"))
            delete:
              operationId: leave
              summary: Leaves, or removes somebody.
              description: For oneself, operators, and tokens with can_admin participants.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Participant'
                - $ref: '#/components/parameters/LeaveReason'
              \(answers("204", "Gone."))
          /v1/rooms/{room}/participants/{participant}/mode:
            post:
              operationId: changeMode
              summary: Changes what a participant may do.
              description: Upwards only for oneself; operators may make somebody step down.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Participant'
              \(body("ModeBody"))
              \(answers("200", "The participant, and credentials for a new host.", "ModeAnswer"))
          /v1/rooms/{room}/participants/{participant}/heartbeat:
            post:
              operationId: heartbeat
              summary: Gives a sign of life; every 5 seconds.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Participant'
              \(body("HeartbeatBody"))
              \(answers("204", "Taken."))
          /v1/rooms/{room}/participants/{participant}/reconnect:
            post:
              operationId: reconnect
              summary: Comes back to a session that was lost.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Participant'
              \(body("ReconnectBody"))
              responses:
                '200':
                  description: As after a join; the keys of a host stay as they are and are not shown again.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/JoinAnswer'
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/participants/{participant}/pin:
            put:
              operationId: pin
              summary: Pins a host, for everybody or for one's own view.
              description: >-
                A pinned host is shown as long as there are places. Where, the layout says: large in SIDEBAR and SPOTLIGHT and
                in the first places of GRID with priority PIN. With priority SPEAKER whoever has the floor goes before it, and
                in GRID a pin moves nobody who is shown.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Participant'
              \(body("PinBody"))
              \(answers("200", "The pin.", "PinResource"))
            delete:
              operationId: unpin
              summary: Takes the pin away.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Participant'
              \(answers("204", "Not pinned."))
          /v1/rooms/{room}/participants/{participant}/quarantine:
            delete:
              operationId: release
              summary: Lets a host publish again whose media ended the mixer; for operators.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Participant'
              \(answers("204", "The host may publish."))
          /v1/rooms/{room}/participants/{participant}/tracks/{track}:
            put:
              operationId: publishTrack
              summary: Publishes a track.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Participant'
                - $ref: '#/components/parameters/Track'
              \(body("PublishTrackBody"))
              \(answers("200", "The track.", "TrackResource"))
            patch:
              operationId: enableTrack
              summary: Mutes a published track, or lifts that.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Participant'
                - $ref: '#/components/parameters/Track'
              \(body("UpdateTrackBody"))
              \(answers("200", "The track.", "TrackResource"))
            delete:
              operationId: unpublishTrack
              summary: Takes a track back.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Participant'
                - $ref: '#/components/parameters/Track'
              \(answers("204", "Not published."))
        """
}
