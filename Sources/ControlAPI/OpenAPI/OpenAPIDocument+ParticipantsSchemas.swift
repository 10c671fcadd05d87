extension OpenAPIDocument {
    /// The words of participants.
    static let participantsSchemas = """
            ParticipantList:
              description: 'The answer of GET /v1/rooms/{room}/participants.'
              type: object
              required:
                - participants
                - meta
              properties:
                participants:
                  type: array
                  items:
                    $ref: '#/components/schemas/ParticipantResource'
                  description: 'In join order.'
                meta:
                  $ref: '#/components/schemas/PageResource'
            ParticipantResource:
              description: 'A participant.'
              type: object
              required:
                - sid
                - identity
                - display_name
                - mode
                - status
                - is_mic_on
                - is_camera_on
                - is_screen_sharing
                - is_speaking
                - is_dominant_speaker
                - audio_level
                - pin
                - position
                - tracks
                - metadata
                - avatar
                - sound
                - sync
                - quarantined_until
                - joined_at
                - revision
              properties:
                sid:
                  type: string
                  description: 'PA….'
                identity:
                  type: string
                  description: 'Who it is; unique in the room.'
                display_name:
                  type: string
                  description: 'The name on the tile.'
                mode:
                  type: string
                  description: 'SEND_AND_RECV, RECV_ONLY or SIGNALLING_ONLY.'
                status:
                  type: string
                  description: 'connecting, connected, reconnecting or disconnected.'
                is_mic_on:
                  type: boolean
                  description: 'The microphone is heard.'
                is_camera_on:
                  type: boolean
                  description: 'The camera is seen.'
                is_screen_sharing:
                  type: boolean
                  description: 'The screen is seen.'
                is_speaking:
                  type: boolean
                  description: 'The voice is loud enough to be speech.'
                is_dominant_speaker:
                  type: boolean
                  description: 'The one who has the word.'
                audio_level:
                  type: [number, "null"]
                  description: 'dBFS, -127 for silence; null without a microphone.'
                pin:
                  anyOf:
                    - $ref: '#/components/schemas/PinResource'
                    - type: "null"
                  description: 'Held on stage; null unless pinned.'
                position:
                  type: [integer, "null"]
                  description: 'The tile''s index; null without a tile.'
                tracks:
                  type: array
                  items:
                    $ref: '#/components/schemas/TrackResource'
                  description: 'In the order mic, camera, screen.'
                discarded:
                  type: array
                  items: { type: string }
                  description: >-
                    Tracks that its encoder sends and that are dropped, for it has a session and did not publish them;
                    left out without.
                metadata:
                  type: object
                  additionalProperties: true
                  description: 'What the clients want to know of each other.'
                avatar:
                  type: [string, "null"]
                  description: >-
                    What stands for the participant while there is no picture, asset:NAME or a URL; null
                    without one.
                sound:
                  $ref: '#/components/schemas/ParticipantSoundResource'
                  description: 'How the participant is mixed as a host.'
                sync:
                  anyOf:
                    - $ref: '#/components/schemas/SyncResource'
                    - type: "null"
                  description: 'How the host''s media keeps time, which no event tells; null while it is not known.'
                screen_sync:
                  $ref: '#/components/schemas/SyncResource'
                  description: >-
                    How the host's screen keeps time, where sync is of its camera; left out otherwise.
                quarantined_until:
                  type: [string, "null"]
                  format: date-time
                  description: >-
                    Until when nothing is taken of the host, whose media ended the mixer again and again; null
                    unless it did.
                joined_at:
                  type: string
                  format: date-time
                  description: 'When the participant joined.'
                revision:
                  type: integer
                  format: int64
                  description: 'Counts the changes of the participant.'
            PinBody:
              description: 'The body of PUT /v1/rooms/{room}/participants/{participant}/pin.'
              type: object
              properties:
                pin_type:
                  type: string
                  description: 'SHARE_AND_CAM, CAM or SHARE; the first when left out.'
            PinResource:
              description: 'Holds a participant on stage.'
              type: object
              required:
                - is_local
                - pin_type
                - pinned_at
              properties:
                is_local:
                  type: boolean
                  description: 'Set by the participant itself and not by who runs the show.'
                pin_type:
                  type: string
                  description: 'SHARE_AND_CAM, CAM or SHARE.'
                pinned_at:
                  type: string
                  format: date-time
                  description: 'When it was set.'
            PublishTrackBody:
              description: 'The body of PUT /v1/rooms/{room}/participants/{participant}/tracks/{track}.'
              type: object
              properties:
                kind:
                  type: string
                  description: 'audio or video; the track''s own when left out.'
                enabled:
                  type: boolean
                  description: 'Not muted; true when left out.'
            TrackResource:
              description: 'A track of a host.'
              type: object
              required:
                - sid
                - name
                - kind
                - published
                - subscribed
                - enabled
                - media_state
                - width
                - height
                - fps
                - codec
              properties:
                sid:
                  type: string
                  description: 'MT….'
                name:
                  type: string
                  description: 'mic, camera or screen.'
                kind:
                  type: string
                  description: 'audio or video.'
                published:
                  type: boolean
                  description: 'The host offers the track.'
                subscribed:
                  type: boolean
                  description: 'Its media goes into the program.'
                enabled:
                  type: boolean
                  description: 'Not muted.'
                media_state:
                  type: string
                  description: 'blocked, off, receivable, loading, playable or interrupted.'
                width:
                  type: [integer, "null"]
                  description: 'Pixels; null for sound and while unknown.'
                height:
                  type: [integer, "null"]
                  description: 'Pixels; null for sound and while unknown.'
                fps:
                  type: [number, "null"]
                  description: 'Pictures per second; null for sound and while unknown.'
                codec:
                  type: [string, "null"]
                  description: 'Such as H.264; null while unknown.'
            UpdateParticipantBody:
              description: >-
                The body of PATCH /v1/rooms/{room}/participants/{participant}; what is left out
                stays as it is.
              type: object
              properties:
                display_name:
                  type: string
                  maxLength: 400
                  description: 'The name on the tile, up to 100 characters and 400 bytes of UTF-8.'
                metadata:
                  type: object
                  additionalProperties: true
                  description: 'Takes the place of the former one.'
                avatar:
                  type: [string, "null"]
                  description: >-
                    What stands for the participant while there is no picture, asset:NAME or a URL; null takes
                    it away.
            UpdateTrackBody:
              description: 'The body of PATCH /v1/rooms/{room}/participants/{participant}/tracks/{track}.'
              type: object
              required:
                - enabled
              properties:
                enabled:
                  type: boolean
                  description: 'Not muted.'
        """
}
