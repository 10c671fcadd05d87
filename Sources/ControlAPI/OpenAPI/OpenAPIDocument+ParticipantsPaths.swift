extension OpenAPIDocument {
    /// The addresses of participants.
    static let participantsPaths = """
          /v1/rooms/{room}/participants:
            post:
              operationId: join
              summary: Joins; the newest of two with the same identity stays.
              parameters:
                - $ref: '#/components/parameters/Room'
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      $ref: '#/components/schemas/JoinBody'
              responses:
                '201':
                  description: What a client needs to take part.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/JoinAnswer'
                default:
                  $ref: '#/components/responses/Refusal'
            get:
              operationId: listParticipants
              summary: Lists participants in join order.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Mode'
                - $ref: '#/components/parameters/ParticipantStatus'
                - $ref: '#/components/parameters/PageSize'
                - $ref: '#/components/parameters/PageToken'
              responses:
                '200':
                  description: A page of participants.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/ParticipantList'
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/participants/{participant}:
            get:
              operationId: readParticipant
              summary: Reads a participant.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Participant'
              responses:
                '200':
                  description: The participant.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/ParticipantResource'
                default:
                  $ref: '#/components/responses/Refusal'
            patch:
              operationId: updateParticipant
              summary: Changes the name or the metadata.
              description: For oneself, operators, and tokens with can_admin participants.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Participant'
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      $ref: '#/components/schemas/UpdateParticipantBody'
              responses:
                '200':
                  description: The participant.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/ParticipantResource'
                default:
                  $ref: '#/components/responses/Refusal'
            delete:
              operationId: leave
              summary: Leaves, or removes somebody.
              description: For oneself, operators, and tokens with can_admin participants.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Participant'
                - $ref: '#/components/parameters/LeaveReason'
              responses:
                '204':
                  description: Gone.
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/participants/{participant}/mode:
            post:
              operationId: changeMode
              summary: Changes what a participant may do.
              description: Upwards only for oneself; operators may make somebody step down.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Participant'
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      $ref: '#/components/schemas/ModeBody'
              responses:
                '200':
                  description: The participant, and credentials for a new host.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/ModeAnswer'
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/participants/{participant}/heartbeat:
            post:
              operationId: heartbeat
              summary: Gives a sign of life; every 5 seconds.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Participant'
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      $ref: '#/components/schemas/HeartbeatBody'
              responses:
                '204':
                  description: Taken.
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/participants/{participant}/reconnect:
            post:
              operationId: reconnect
              summary: Comes back to a session that was lost.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Participant'
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      $ref: '#/components/schemas/ReconnectBody'
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
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Participant'
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      $ref: '#/components/schemas/PinBody'
              responses:
                '200':
                  description: The pin.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/PinResource'
                default:
                  $ref: '#/components/responses/Refusal'
            delete:
              operationId: unpin
              summary: Takes the pin away.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Participant'
              responses:
                '204':
                  description: Not pinned.
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/participants/{participant}/quarantine:
            delete:
              operationId: release
              summary: Lets a host publish again whose media ended the mixer; for operators.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Participant'
              responses:
                '204':
                  description: The host may publish.
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/participants/{participant}/tracks/{track}:
            put:
              operationId: publishTrack
              summary: Publishes a track.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Participant'
                - $ref: '#/components/parameters/Track'
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      $ref: '#/components/schemas/PublishTrackBody'
              responses:
                '200':
                  description: The track.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/TrackResource'
                default:
                  $ref: '#/components/responses/Refusal'
            patch:
              operationId: enableTrack
              summary: Mutes a published track, or lifts that.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Participant'
                - $ref: '#/components/parameters/Track'
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      $ref: '#/components/schemas/UpdateTrackBody'
              responses:
                '200':
                  description: The track.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/TrackResource'
                default:
                  $ref: '#/components/responses/Refusal'
            delete:
              operationId: unpublishTrack
              summary: Takes a track back.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Participant'
                - $ref: '#/components/parameters/Track'
              responses:
                '204':
                  description: Not published.
                default:
                  $ref: '#/components/responses/Refusal'
        """
}
