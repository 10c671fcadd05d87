extension OpenAPIDocument {
    /// The words of events.
    static let eventsSchemas = """
            CreateInvitationBody:
              description: 'The body of POST /v1/rooms/{room}/invitations.'
              type: object
              required:
                - identities
              properties:
                identities:
                  type: array
                  minItems: 1
                  items:
                    type: string
                    pattern: '^[A-Za-z0-9_-]{1,64}$'
                  description: 'Who is called; at least one.'
                mode:
                  type: string
                  enum: [SEND_AND_RECV, RECV_ONLY, SIGNALLING_ONLY]
                  description: 'What accepting allows; SEND_AND_RECV when left out.'
                timeout:
                  type: integer
                  minimum: 5
                  maximum: 300
                  description: 'Seconds it rings, 5 to 300; 30 when left out.'
            CustomEventResource:
              description: 'Something that an app tells everybody in a room, in words that only apps understand.'
              type: object
              required:
                - type
                - data
                - participant_sid
                - identity
              properties:
                type:
                  type: string
                  description: 'What kind it is; reaction for a reaction.'
                data:
                  type: object
                  description: 'What it says.'
                participant_sid:
                  type: [string, "null"]
                  description: 'The participant it comes from; null for one that runs the show without being in the room.'
                identity:
                  type: [string, "null"]
                  description: 'The identity of that participant; null likewise.'
            ErrorAnswer:
              description: 'The body of every refusal.'
              type: object
              required:
                - error
              properties:
                error:
                  $ref: '#/components/schemas/ErrorResource'
            ErrorResource:
              description: 'A refusal; clients match on code and never on message.'
              type: object
              required:
                - code
                - name
                - message
                - cause
                - solution
                - status
                - retryable
                - retry_after
                - more_info
              properties:
                code:
                  type: integer
                  description: 'The stable number.'
                name:
                  type: string
                  description: 'The stable name.'
                message:
                  type: string
                  description: 'What happened, for people.'
                cause:
                  type: string
                  description: 'Why, for people.'
                solution:
                  type: string
                  description: 'What to do, for people.'
                status:
                  type: integer
                  description: 'The HTTP status.'
                retryable:
                  type: boolean
                  description: 'The same request may succeed later.'
                retry_after:
                  type: [integer, "null"]
                  description: 'Seconds to wait; null where waiting does not help.'
                more_info:
                  type: string
                  description: 'Where the code is explained.'
            EventResource:
              description: >-
                The data of one server-sent event; which of the optional fields are there follows
                from type.
              type: object
              required:
                - type
                - room_sid
                - rev
                - ts
              properties:
                type:
                  type: string
                  enum:
                    - room.snapshot
                    - room.created
                    - room.updated
                    - room.ended
                    - participant.joined
                    - participant.updated
                    - participant.left
                    - participant.mode_changed
                    - participant.reconnecting
                    - participant.reconnected
                    - participant.media_failed
                    - track.published
                    - track.unpublished
                    - track.enabled
                    - track.disabled
                    - track.subscribed
                    - track.unsubscribed
                    - dominant_speaker.changed
                    - pin.changed
                    - layout.changed
                    - livestream.state_changed
                    - livestream.output_updated
                    - livestream.warning
                    - livestream.error
                    - hls.state_changed
                    - recording.state_changed
                    - recording.rotated
                    - recording.failed
                    - viewership.updated
                    - invitation.created
                    - invitation.accepted
                    - invitation.rejected
                    - invitation.cancelled
                    - invitation.missed
                    - hand.raised
                    - hand.lowered
                    - hand.accepted
                    - hand.rejected
                    - hand.expired
                    - custom.event
                    - asset.stored
                    - asset.removed
                    - session.disconnected
                    - heartbeat
                  description: 'Also the event''s name.'
                room_sid:
                  type: string
                  description: 'The room; empty with the heartbeat of a stream that belongs to no room.'
                rev:
                  type: integer
                  format: int64
                  description: 'The room''s revision; events up to the last known one are to be ignored.'
                ts:
                  type: string
                  format: date-time
                  description: 'When it happened.'
                room:
                  $ref: '#/components/schemas/RoomResource'
                participants:
                  type: array
                  items:
                    $ref: '#/components/schemas/ParticipantResource'
                  description: 'Everybody in the room, in join order; with room.snapshot.'
                invitations:
                  type: array
                  items:
                    $ref: '#/components/schemas/InvitationResource'
                  description: 'What rings for the reader; with the first event of a user''s stream.'
                hands:
                  type: array
                  items:
                    $ref: '#/components/schemas/HandResource'
                  description: 'The hands that are up, the one that was raised first at the beginning; with room.snapshot.'
                layout:
                  $ref: '#/components/schemas/LayoutResource'
                tiles:
                  type: array
                  items:
                    $ref: '#/components/schemas/TileResource'
                  description: 'The layout''s tiles once more, for those who want nothing else.'
                participant:
                  $ref: '#/components/schemas/ParticipantResource'
                track:
                  $ref: '#/components/schemas/TrackResource'
                reason:
                  type: string
                  description: >-
                    Why; with participant.left, participant.reconnecting, track.unpublished,
                    dominant_speaker.changed, and hand.lowered: lowered, left or on_stage.
                code:
                  type: integer
                  description: >-
                    The number of the reason; with participant.reconnecting: 53001 for
                    signalling, 53405 for media.
                previous_mode:
                  type: string
                  description: 'The mode before; with participant.mode_changed.'
                sid:
                  type: [string, "null"]
                  description: 'Who has the word, null for nobody; with dominant_speaker.changed.'
                previous_sid:
                  type: [string, "null"]
                  description: 'Who had it before; with dominant_speaker.changed.'
                participant_sid:
                  type: string
                  description: 'Whose pin; with pin.changed.'
                pin:
                  anyOf:
                    - $ref: '#/components/schemas/PinResource'
                    - type: "null"
                  description: 'The pin, null when it is gone; with pin.changed.'
                livestream:
                  $ref: '#/components/schemas/LivestreamResource'
                output:
                  $ref: '#/components/schemas/OutputResource'
                recording:
                  $ref: '#/components/schemas/RecordingResource'
                  description: 'How the recording is doing; with recording.state_changed and recording.rotated.'
                hls:
                  $ref: '#/components/schemas/HLSResource'
                warning:
                  $ref: '#/components/schemas/WarningResource'
                counts:
                  $ref: '#/components/schemas/CountsResource'
                viewership:
                  $ref: '#/components/schemas/ViewershipResource'
                invitation:
                  $ref: '#/components/schemas/InvitationResource'
                identities:
                  type: array
                  items: { type: string }
                  description: 'Whom it happened to; with invitation.*.'
                hand:
                  $ref: '#/components/schemas/HandResource'
                  description: 'The hand; with hand.*.'
                custom:
                  $ref: '#/components/schemas/CustomEventResource'
                  description: 'What an app tells; with custom.event.'
                asset:
                  $ref: '#/components/schemas/AssetResource'
                  description: 'The file; with asset.*.'
                error:
                  anyOf:
                    - $ref: '#/components/schemas/ErrorResource'
                  description: >-
                    What failed; with session.disconnected, participant.media_failed and
                    livestream.error.
            HandList:
              description: 'The answer of GET /v1/rooms/{room}/hands.'
              type: object
              required:
                - hands
                - meta
              properties:
                hands:
                  type: array
                  items:
                    $ref: '#/components/schemas/HandResource'
                  description: 'The hand that was raised first comes first.'
                meta:
                  $ref: '#/components/schemas/PageResource'
            HandResource:
              description: 'A raised hand: somebody in the audience asks to speak.'
              type: object
              required:
                - sid
                - participant_sid
                - identity
                - raised_at
                - expires_at
              properties:
                sid:
                  type: string
                  description: 'HA….'
                participant_sid:
                  type: string
                  description: 'The participant who asks.'
                identity:
                  type: string
                  description: 'Who asks.'
                raised_at:
                  type: string
                  format: date-time
                  description: 'When it was raised.'
                expires_at:
                  type: string
                  format: date-time
                  description: 'When it goes down by itself.'
            InvitationResource:
              description: 'A call to come into a room, or on stage.'
              type: object
              required:
                - sid
                - room_sid
                - room
                - inviter
                - mode
                - state
                - invitees
                - created_at
                - expires_at
              properties:
                sid:
                  type: string
                  description: 'IN….'
                room_sid:
                  type: string
                  description: 'The room''s sid.'
                room:
                  type: string
                  description: 'The room''s unique name.'
                inviter:
                  type: string
                  description: 'The identity of who calls.'
                mode:
                  type: string
                  description: 'What an acceptance allows.'
                state:
                  type: string
                  description: >-
                    ringing, accepted, rejected, cancelled or missed; one acceptance is enough
                    for accepted.
                invitees:
                  type: array
                  items:
                    $ref: '#/components/schemas/InviteeResource'
                  description: 'Those it was sent to, in the order they were named.'
                created_at:
                  type: string
                  format: date-time
                  description: 'When it was made.'
                expires_at:
                  type: string
                  format: date-time
                  description: 'When the ringing ends.'
            InviteeResource:
              description: 'One of those an invitation was sent to.'
              type: object
              required:
                - identity
                - state
                - changed_at
              properties:
                identity:
                  type: string
                  description: 'Who.'
                state:
                  type: string
                  description: 'ringing, accepted, rejected, cancelled or missed.'
                changed_at:
                  type: [string, "null"]
                  format: date-time
                  description: 'When it came to that; null while ringing.'
            MixerLoadResource:
              description: 'How near a room''s mixer is to the limit of what its machine can do.'
              type: object
              required:
                - level
                - work
                - cores
              properties:
                level:
                  type: integer
                  description: >-
                    What the program does without: 0 nothing, 1 some of the coder's search, 2
                    pictures of smaller tiles, 3 one picture of three, 4 the pictures of all but
                    the first tiles and who speaks, 5 renditions, 6 all pictures of hosts. Never any
                    sound.
                reason:
                  type: string
                  description: 'frame_work or encoder_queue; left out on level 0.'
                work:
                  type: number
                  description: 'The part of its time that a slow picture takes; 1 leaves none to spare.'
                cores:
                  type: number
                  description: 'Processor cores that the mixer keeps busy.'
                renditions:
                  type: array
                  items:
                    $ref: '#/components/schemas/RenditionLoadResource'
                  description: 'How each rendition is doing; left out where none is offered.'
            MixerFramesResource:
              description: 'What became of a program''s pictures since its mixer began.'
              type: object
              required:
                - counts
                - seconds
                - lost
              properties:
                counts:
                  type: array
                  items:
                    type: integer
                  description: >-
                    Pictures made, by the time that took: up to 2, 5, 10, 15, 20, 25, 33, 40, 50,
                    100, 250 ms, a second, and more.
                seconds:
                  type: number
                  description: 'Seconds of all together.'
                lost:
                  type: object
                  additionalProperties:
                    type: integer
                  description: >-
                    Pictures that were not made, by where they were lost: compose, encode, degrade,
                    rendition, jump.
            RaiseHandBody:
              description: 'The body of POST /v1/rooms/{room}/hands.'
              type: object
              properties:
                timeout:
                  type: integer
                  minimum: 10
                  maximum: 3600
                  description: 'Seconds it stays up, 10 to 3600; 300 when left out.'
            RenditionLoadResource:
              description: 'How one rendition of a program is doing.'
              type: object
              required:
                - name
                - dropped
              properties:
                name:
                  type: string
                  description: 'Such as 720p.'
                dropped:
                  type: integer
                  description: 'Pictures that it was left without, because its coder was behind.'
            MixerReportBody:
              description: >-
                The body of POST /v1/rooms/{room}/mixer/report: what the room's mixer hears and
                sees.
              type: object
              required:
                - participants
              properties:
                participants:
                  type: array
                  items:
                    $ref: '#/components/schemas/MixerReportEntry'
                  description: 'Each host of the mix.'
                program:
                  $ref: '#/components/schemas/ProgramLevelResource'
                  description: 'How loud the program is; left out where that is not known.'
                load:
                  $ref: '#/components/schemas/MixerLoadResource'
                  description: 'How the mixer itself is doing; left out where that is not known.'
                frames:
                  $ref: '#/components/schemas/MixerFramesResource'
                  description: 'What became of the program''s pictures; left out where that is not known.'
            MixerReportEntry:
              description: 'One host as the mixer hears and sees it.'
              type: object
              required:
                - sid
                - audio_level
                - subscribed
              properties:
                sid:
                  type: string
                  description: 'The participant.'
                audio_level:
                  type: [number, "null"]
                  description: 'dBFS, -127 for silence; null without a microphone.'
                subscribed:
                  type: array
                  items: { type: string }
                  description: 'The tracks whose media can be decoded: mic, camera, screen.'
                sync:
                  $ref: '#/components/schemas/SyncResource'
                  description: 'How the host''s media keeps time; left out where that is not known.'
                screen_sync:
                  $ref: '#/components/schemas/SyncResource'
                  description: >-
                    How the host's screen keeps time, where sync is of its camera; left out otherwise.
                peak:
                  type: number
                  description: >-
                    The largest sample of the last tenth of a second in dBFS; left out without a microphone.
                levelling_db:
                  type: number
                  description: >-
                    Decibels by which levelling turns the host up, or down; left out without a microphone.
            LevelsResource:
              description: 'How loud a room is at this moment.'
              type: object
              required:
                - hosts
              properties:
                hosts:
                  type: array
                  items:
                    $ref: '#/components/schemas/HostLevelResource'
                  description: 'The hosts with a microphone that is on.'
                program:
                  $ref: '#/components/schemas/ProgramLevelResource'
                  description: 'The program; left out where that is not known.'
            HostLevelResource:
              description: 'How loud a host is at this moment.'
              type: object
              required:
                - sid
                - level
                - peak
                - levelling_db
              properties:
                sid:
                  type: string
                  description: 'The participant.'
                level:
                  type: number
                  description: >-
                    Root mean square of the last tenth of a second in dBFS, before any gain, -127 for silence.
                peak:
                  type: number
                  description: 'The largest sample of that time in dBFS.'
                levelling_db:
                  type: number
                  description: 'Decibels by which levelling turns the host up at present, or down.'
            ProgramLevelResource:
              description: 'How loud the program is at this moment.'
              type: object
              required:
                - peak
                - limiting_db
              properties:
                peak:
                  type: number
                  description: >-
                    The largest sample of the last tenth of a second in dBFS, as it goes out; -127 for silence.
                limiting_db:
                  type: number
                  description: >-
                    Decibels by which the limiter turned it down at the most in that time, 0 or less.
            SendEventBody:
              description: 'The body of POST /v1/rooms/{room}/events.'
              type: object
              required:
                - type
              properties:
                type:
                  type: string
                  pattern: '^[A-Za-z0-9._-]{1,64}$'
                  description: 'What kind it is; reaction for a reaction.'
                data:
                  type: object
                  description: 'What it says, up to 4096 bytes as JSON without spaces; nothing when left out.'
        """
}
