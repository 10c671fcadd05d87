extension OpenAPIDocument {
    /// Tokens, refusals and parameters.
    static let parameters = """
        components:
          securitySchemes:
            bearer:
              type: http
              scheme: bearer
              bearerFormat: JWT
              description: >-
                HS256. The claim footlight holds role, room, mode, allowed_modes, can_admin and pub.sources;
                what a token does not name it does not grant. Clocks may differ by 30 seconds: a token is accepted from 30
                seconds before nbf until 30 seconds after exp. A token is revoked by its jti. An operator's token is
                accepted in the Authorization header only, never in a URL (20106).
          responses:
            Refusal:
              description: A refusal. With 429, and wherever waiting helps, it says when to ask again.
              headers:
                Retry-After:
                  description: 'Seconds to wait before the next try, as in retry_after.'
                  schema:
                    type: integer
              content:
                application/json:
                  schema:
                    $ref: '#/components/schemas/ErrorAnswer'
            Webhook:
              description: The webhook.
              content:
                application/json:
                  schema:
                    $ref: '#/components/schemas/WebhookResource'
        \(reportAnswers)
          parameters:
            Room:
              name: room
              in: path
              required: true
              description: 'The room''s unique name or sid.'
              schema:
                type: string
            Participant:
              name: participant
              in: path
              required: true
              description: 'The participant''s sid or identity.'
              schema:
                type: string
            Output:
              name: output
              in: path
              required: true
              description: 'The name of the output.'
              schema:
                type: string
            Asset:
              name: asset
              in: path
              required: true
              description: 'The name of the picture or sound.'
              schema:
                type: string
            Invitation:
              name: invitation
              in: path
              required: true
              description: 'The sid of the invitation.'
              schema:
                type: string
            Hand:
              name: hand
              in: path
              required: true
              description: 'The sid of the hand, or the sid or identity of its participant.'
              schema:
                type: string
            Recording:
              name: recording
              in: path
              required: true
              description: 'The sid of the recorded file.'
              schema:
                type: string
            Webhook:
              name: webhook
              in: path
              required: true
              description: 'The id of the webhook.'
              schema:
                type: string
            Token:
              name: token
              in: path
              required: true
              description: 'The id of the token, as in the list.'
              schema:
                type: string
            Code:
              name: code
              in: path
              required: true
              description: 'The code of a refusal.'
              schema:
                type: string
            Track:
              name: track
              in: path
              required: true
              description: 'Which of the three.'
              schema:
                type: string
                enum: [mic, camera, screen]
            RoomStatus:
              name: status
              in: query
              description: 'Only rooms of this status.'
              schema:
                type: string
                enum: [in-progress, completed]
            ParticipantStatus:
              name: status
              in: query
              description: 'Only participants of this status.'
              schema:
                type: string
                enum: [connecting, connected, reconnecting, disconnected]
            Mode:
              name: mode
              in: query
              description: 'Only participants in this mode.'
              schema:
                type: string
                enum: [SEND_AND_RECV, RECV_ONLY, SIGNALLING_ONLY]
            PageSize:
              name: page_size
              in: query
              description: 'Entries on a page.'
              schema:
                type: integer
                minimum: 1
                maximum: 100
                default: 50
            PageToken:
              name: page_token
              in: query
              description: 'The next_page_token of the page before.'
              schema:
                type: string
            Format:
              name: format
              in: query
              description: 'Instead of Accept.'
              schema:
                type: string
                enum: [json, csv, jsonl]
            From:
              name: from
              in: query
              description: 'RFC 3339 or seconds since 1970; three hours before the end when left out.'
              schema:
                anyOf:
                  - type: string
                    format: date-time
                  - type: number
                    minimum: 0
                    maximum: 100000000000
            PeriodFrom:
              name: from
              in: query
              description: 'RFC 3339 or seconds since 1970; a day before the end when left out.'
              schema:
                anyOf:
                  - type: string
                    format: date-time
                  - type: number
                    minimum: 0
                    maximum: 100000000000
            To:
              name: to
              in: query
              description: 'As from; now when left out.'
              schema:
                anyOf:
                  - type: string
                    format: date-time
                  - type: number
                    minimum: 0
                    maximum: 100000000000
            Step:
              name: step
              in: query
              description: 'Seconds, whole minutes.'
              schema:
                type: integer
                minimum: 60
                maximum: 86400
                multipleOf: 60
                default: 60
            GroupBy:
              name: group_by
              in: query
              description: 'By what the viewers are told apart; all together when left out.'
              schema:
                type: string
                enum: [protocol, rendition, region, client]
            BroadcastAt:
              name: at
              in: query
              description: 'A moment of the broadcast that is meant, as from; the latest one when left out.'
              schema:
                anyOf:
                  - type: string
                    format: date-time
                  - type: number
                    minimum: 0
                    maximum: 100000000000
            IfNoneMatch:
              name: If-None-Match
              in: header
              description: 'The ETag of the report that is known already.'
              schema:
                type: string
            LeaveReason:
              name: reason
              in: query
              description: 'Why; left for oneself and removed for others when left out.'
              schema:
                type: string
                enum: [left, removed]
            OfParticipant:
              name: participant
              in: query
              description: 'Whose session the stream belongs to.'
              schema:
                type: string
            OfSession:
              name: session_id
              in: query
              description: 'From the join; the stream opens the session, and its end closes it.'
              schema:
                type: string
            Identity:
              name: identity
              in: query
              required: true
              description: 'Whose invitations; ''me'' for the token''s own.'
              schema:
                type: string
                minLength: 1
            LastEventID:
              name: Last-Event-ID
              in: header
              description: 'The latest revision known; what came after it is replayed.'
              schema:
                type: string
            LastEventIDQuery:
              name: last_event_id
              in: query
              description: 'As Last-Event-ID.'
              schema:
                type: string
            AccessToken:
              name: access_token
              in: query
              description: 'A participant''s token, for clients that cannot send headers.'
              schema:
                type: string
          schemas:
        """
}
