extension OpenAPIDocument {
    /// The words of webhooks.
    static let webhooksSchemas = """
            CreateWebhookBody:
              description: 'Whom to tell, and of what.'
              type: object
              required:
                - url
              properties:
                url:
                  type: string
                  format: uri
                  minLength: 8
                  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://'
                  description: 'Where to post to: https://, and http:// where the operator allows it.'
                description:
                  type: string
                  description: 'What it is for, for people; up to 256 bytes.'
                types:
                  type: array
                  items:
                    type: string
                  description: 'Names of events, or beginnings such as room.*; all when left out or empty.'
                room:
                  type: string
                  description: 'The unique name or sid of a room; all rooms when left out.'
                enabled:
                  type: boolean
                  description: 'Whether anything is delivered; true when left out.'
            UpdateWebhookBody:
              description: 'What is left out stays as it is.'
              type: object
              properties:
                url:
                  type: string
                  format: uri
                  minLength: 8
                  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://'
                  description: 'Where to post to.'
                description:
                  type: string
                  description: 'What it is for, for people.'
                types:
                  type: array
                  items:
                    type: string
                  description: 'Names of events; empty for all.'
                room:
                  type: [string, "null"]
                  description: 'The unique name or sid of a room; null for all rooms.'
                enabled:
                  type: boolean
                  description: 'Whether anything is delivered; true also for one that was turned off because it failed.'
            WebhookResource:
              description: 'Somebody who is told what happens.'
              type: object
              required:
                - id
                - url
                - description
                - types
                - room
                - enabled
                - disabled_reason
                - secret
                - former_secret_until
                - created_at
                - updated_at
                - failures
                - failing_since
                - next_try_at
                - pending
                - dropped
              properties:
                id:
                  type: string
                  description: 'WH and 32 hexadecimal digits.'
                url:
                  type: string
                  description: 'Where is posted to.'
                description:
                  type: string
                  description: 'What it is for, for people.'
                types:
                  type: array
                  items:
                    type: string
                  description: 'Names of events; empty for all.'
                room:
                  type: [string, "null"]
                  description: 'The room; null for all.'
                enabled:
                  type: boolean
                  description: 'Whether anything is delivered.'
                disabled_reason:
                  type: [string, "null"]
                  enum: [operator, gone, failing, null]
                  description: 'Why nothing is; gone after a 410.'
                secret:
                  type: string
                  description: 'What messages are signed with; whole only in the answer that makes it.'
                former_secret_until:
                  type: [string, "null"]
                  format: date-time
                  description: 'Until when the former secret signs along; null without a rotation.'
                created_at:
                  type: string
                  format: date-time
                  description: 'When it was made.'
                updated_at:
                  type: string
                  format: date-time
                  description: 'When it was last changed or turned off.'
                failures:
                  type: integer
                  description: 'Tries that failed since the last message that was taken.'
                failing_since:
                  type: [string, "null"]
                  format: date-time
                  description: 'When the first of them failed; null while all is well.'
                next_try_at:
                  type: [string, "null"]
                  format: date-time
                  description: 'Before this nothing is tried; null while all is well.'
                pending:
                  type: integer
                  description: 'Messages that wait.'
                dropped:
                  type: integer
                  description: 'Messages that were given up because too many waited.'
            WebhookList:
              description: 'All webhooks.'
              type: object
              required:
                - webhooks
              properties:
                webhooks:
                  type: array
                  items:
                    $ref: '#/components/schemas/WebhookResource'
            WebhookAttemptResource:
              description: 'One try to tell somebody of something.'
              type: object
              required:
                - number
                - at
                - duration
                - outcome
                - status
                - retry_after
              properties:
                number:
                  type: integer
                  description: '1 for the first.'
                at:
                  type: string
                  format: date-time
                  description: 'When it began.'
                duration:
                  type: number
                  description: 'Seconds.'
                outcome:
                  type: string
                  enum: [delivered, refused, redirect, gone, timeout, closed, unreachable, name_not_found, tls, forbidden]
                  description: 'What came of it.'
                status:
                  type: [integer, "null"]
                  description: 'The HTTP status; null without an answer.'
                retry_after:
                  type: [number, "null"]
                  description: 'Seconds that were asked for before the next try; null when none were.'
            WebhookDeliveryResource:
              description: 'What became of telling somebody of one event.'
              type: object
              required:
                - id
                - seq
                - type
                - room
                - at
                - state
                - tries
                - attempts
              properties:
                id:
                  type: string
                  description: 'The webhook-id of the message, the same at each try.'
                seq:
                  type: integer
                  description: 'The place in the order of all events.'
                type:
                  type: string
                  description: 'The kind of event.'
                room:
                  type: string
                  description: 'The room''s unique name; empty for what belongs to none.'
                at:
                  type: string
                  format: date-time
                  description: 'When it happened.'
                state:
                  type: string
                  enum: [pending, delivered, failed]
                  description: 'How far it is.'
                tries:
                  type: integer
                  description: 'Tries so far.'
                attempts:
                  type: array
                  items:
                    $ref: '#/components/schemas/WebhookAttemptResource'
            WebhookDeliveryList:
              description: 'A page of deliveries, the latest first.'
              type: object
              required:
                - deliveries
                - meta
              properties:
                deliveries:
                  type: array
                  items:
                    $ref: '#/components/schemas/WebhookDeliveryResource'
                meta:
                  $ref: '#/components/schemas/PageResource'
            ThresholdResource:
              description: 'A number of viewers that a broadcast has reached for the first time.'
              type: object
              required:
                - threshold
                - viewership
              properties:
                threshold:
                  type: integer
                  description: 'The number.'
                viewership:
                  $ref: '#/components/schemas/ViewershipResource'
        """
}
