extension OpenAPIDocument {
    /// The addresses of events.
    static let eventsPaths = """
          /v1/rooms/{room}/invitations:
            post:
              operationId: invite
              summary: Calls somebody on stage.
              description: For hosts, operators, and tokens with can_admin participants.
              parameters:
                - $ref: '#/components/parameters/Room'
              \(body("CreateInvitationBody"))
              \(answers("201", "It rings.", "InvitationResource"))
          /v1/invitations/{invitation}:
            get:
              operationId: readInvitation
              summary: Reads an invitation.
              description: For those it concerns, and operators.
              parameters:
                - $ref: '#/components/parameters/Invitation'
              \(answers("200", "The invitation.", "InvitationResource"))
          /v1/invitations/{invitation}/accept:
            post:
              operationId: acceptInvitation
              summary: Accepts; allows the invited mode once, for two minutes.
              parameters:
                - $ref: '#/components/parameters/Invitation'
              \(answers("200", "The invitation.", "InvitationResource"))
          /v1/invitations/{invitation}/reject:
            post:
              operationId: rejectInvitation
              summary: Declines.
              parameters:
                - $ref: '#/components/parameters/Invitation'
              \(answers("200", "The invitation.", "InvitationResource"))
          /v1/invitations/{invitation}/cancel:
            post:
              operationId: cancelInvitation
              summary: Calls it back from all who have not answered.
              description: For who made it, and operators.
              parameters:
                - $ref: '#/components/parameters/Invitation'
              \(answers("200", "The invitation.", "InvitationResource"))
          /v1/rooms/{room}/events:
            get:
              operationId: followRoom
              summary: Follows a room by server-sent events.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/OfParticipant'
                - $ref: '#/components/parameters/OfSession'
                - $ref: '#/components/parameters/LastEventID'
                - $ref: '#/components/parameters/LastEventIDQuery'
                - $ref: '#/components/parameters/AccessToken'
              responses:
                '200':
                  description: A snapshot or what was missed, then what happens.
                  content:
                    text/event-stream:
                      schema:
                        $ref: '#/components/schemas/EventResource'
                default:
                  $ref: '#/components/responses/Refusal'
            post:
              operationId: sendEvent
              summary: Tells everybody in a room something in the words of an app, such as a reaction.
              description: >-
                For participants of the room, operators, and tokens with can_admin. It comes as custom.event, in the order
                of all events, to those who follow the room, and to webhooks; it is kept no longer than those. One sender
                sends up to 5 events a second, 10 at once, and all participants of a room together up to 50, 100 at once;
                beyond that they are refused with 429. Raised hands count as well.
              parameters:
                - $ref: '#/components/parameters/Room'
              \(body("SendEventBody"))
              \(answers("202", "The event as everybody gets it.", "EventResource"))
          /v1/rooms/{room}/hands:
            get:
              operationId: listHands
              summary: Lists raised hands, the one that was raised first at the beginning.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/PageSize'
                - $ref: '#/components/parameters/PageToken'
              \(answers("200", "A page of hands.", "HandList"))
            post:
              operationId: raiseHand
              summary: Asks to speak.
              description: >-
                For participants in RECV_ONLY and SIGNALLING_ONLY; a host is refused with 3066. A hand that is up stays as
                it is, and is the answer, with 200. It ends with an answer, with its time, when its participant leaves or
                comes on stage, and when that accepts an invitation to.
              parameters:
                - $ref: '#/components/parameters/Room'
              requestBody:
                required: false
                content:
                  application/json:
                    schema:
                      $ref: '#/components/schemas/RaiseHandBody'
              responses:
                '200':
                  description: It was up already.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/HandResource'
                '201':
                  description: It is up.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/HandResource'
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/hands/{hand}:
            delete:
              operationId: lowerHand
              summary: Takes a hand down.
              description: >-
                For the participant, whose hand may be down already, and for hosts, operators, and tokens with can_admin
                participants.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Hand'
              \(answers("204", "It is down."))
          /v1/rooms/{room}/hands/{hand}/accept:
            post:
              operationId: acceptHand
              summary: Lets who asks come on stage.
              description: >-
                For hosts, operators, and tokens with can_admin participants. Like an accepted invitation it allows the
                participant to change its mode to SEND_AND_RECV once, for two minutes, which gives it where to publish.
                Refused with 4010 while the room has its maximum of hosts.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Hand'
              \(answers("200", "The hand as it was.", "HandResource"))
          /v1/rooms/{room}/hands/{hand}/reject:
            post:
              operationId: rejectHand
              summary: Turns down who asks, who may ask again.
              description: For hosts, operators, and tokens with can_admin participants.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/Hand'
              \(answers("200", "The hand as it was.", "HandResource"))
          /v1/rooms/{room}/levels:
            get:
              operationId: followLevels
              summary: How loud a room is, up to ten times a second, by server-sent events.
              description: >-
                Events named levels, none of which is numbered or kept: who is slow gets the newest one next. Once a
                second while nobody is heard.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/AccessToken'
              responses:
                '200':
                  description: Levels until the client or the room is gone.
                  content:
                    text/event-stream:
                      schema:
                        $ref: '#/components/schemas/LevelsResource'
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/events:
            get:
              operationId: followUser
              summary: Follows the invitations of an identity by server-sent events.
              parameters:
                - $ref: '#/components/parameters/Identity'
                - $ref: '#/components/parameters/AccessToken'
              responses:
                '200':
                  description: What rings, then what happens.
                  content:
                    text/event-stream:
                      schema:
                        $ref: '#/components/schemas/EventResource'
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/openapi.yaml:
            get:
              operationId: describe
              summary: This description.
              security: []
              responses:
                '200':
                  description: OpenAPI 3.1.
                  content:
                    application/yaml:
                      schema:
                        type: string
          /docs/errors:
            get:
              operationId: listErrors
              summary: Every code, with where it is explained.
              security: []
              responses:
                '200':
                  description: A line for each refusal.
                  content:
                    text/plain:
                      schema:
                        type: string
          /docs/errors/{code}:
            get:
              operationId: explainError
              summary: Explains a code.
              security: []
              parameters:
                - $ref: '#/components/parameters/Code'
              responses:
                '200':
                  description: What it means and what to do.
                  content:
                    text/plain:
                      schema:
                        type: string
                '404':
                  description: No such code.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/ErrorAnswer'
          /livez:
            get:
              operationId: isAlive
              summary: Answers while the gateway runs.
              security: []
              responses:
                '200':
                  description: It does.
                  content:
                    text/plain:
                      schema:
                        type: string
          /readyz:
            get:
              operationId: isReady
              summary: Answers whether new work is welcome.
              security: []
              responses:
                '200':
                  description: It is.
        \(readinessContent)
                '503':
                  description: It is not, for the reasons that are named.
        \(readinessContent)
        """

    /// What both answers of /readyz hold.
    private static let readinessContent = """
                  content:
                    application/json:
                      schema:
                        type: object
                        required:
                          - ready
                          - reasons
                        properties:
                          ready:
                            type: boolean
                          reasons:
                            type: array
                            description: 'Everything that is wrong; empty when ready.'
                            items:
                              type: object
                              required:
                                - name
                                - problem
                              properties:
                                name:
                                  type: string
                                  description: 'Names the kind of problem, such as `disk` or `store_rooms`.'
                                problem:
                                  type: string
                                  description: 'What is wrong, for people.'
        """
}
