extension OpenAPIDocument {
    /// The words of joining a room, and of staying in it.
    static let joiningSchemas = """
            CallSettingsBody:
              description: 'What a client is about to send and play.'
              type: object
              properties:
                audio_on:
                  type: boolean
                  description: 'The microphone is on.'
                video_on:
                  type: boolean
                  description: 'The camera is on.'
                speaker_on:
                  type: boolean
                  description: 'Sound comes from the loudspeaker.'
                audio_output_on:
                  type: boolean
                  description: 'Sound is played.'
                camera_position:
                  type: string
                  description: 'front or back.'
            CallSettingsResource:
              description: 'What a client begins with.'
              type: object
              required:
                - audio_on
                - video_on
                - speaker_on
                - audio_output_on
                - camera_position
              properties:
                audio_on:
                  type: boolean
                  description: 'The microphone is to be published.'
                video_on:
                  type: boolean
                  description: 'The camera is to be published.'
                speaker_on:
                  type: boolean
                  description: 'Sound comes from the loudspeaker.'
                audio_output_on:
                  type: boolean
                  description: 'Sound is played.'
                camera_position:
                  type: string
                  description: 'front or back.'
            ConnectOptionsBody:
              description: 'What a client would send at most.'
              type: object
              properties:
                max_bitrate:
                  type: integer
                  description: 'Kilobits a second of picture and sound together, 100 or more.'
                width:
                  type: integer
                  description: 'Pixels, even.'
                height:
                  type: integer
                  description: 'Pixels, even.'
            ConnectOptionsResource:
              description: 'What a host may send at most.'
              type: object
              required:
                - max_bitrate
                - width
                - height
              properties:
                max_bitrate:
                  type: integer
                  description: 'Kilobits a second of picture and sound together.'
                width:
                  type: integer
                  description: 'Pixels.'
                height:
                  type: integer
                  description: 'Pixels.'
            HeartbeatBody:
              description: 'The body of POST /v1/rooms/{room}/participants/{participant}/heartbeat.'
              type: object
              required:
                - session_id
              properties:
                session_id:
                  type: string
                  description: 'From the join.'
                audio_level:
                  type: number
                  description: 'dBFS as the client measures it; a hint, the mixer measures too.'
            IngestResource:
              description: 'Where and how a host publishes.'
              type: object
              required:
                - rtmp
              properties:
                rtmp:
                  $ref: '#/components/schemas/RTMPIngestResource'
            JoinAnswer:
              description: 'The answer to a join, and to a return.'
              type: object
              required:
                - participant
                - session_id
                - room
                - participants
                - tiles
                - ingest
                - call_settings
                - connect_options
                - playback
                - events_url
                - heartbeat_interval
                - session_timeout
                - fast_reconnect_deadline
              properties:
                participant:
                  $ref: '#/components/schemas/ParticipantResource'
                session_id:
                  type: string
                  description: 'Names this session of the participant.'
                room:
                  $ref: '#/components/schemas/RoomResource'
                participants:
                  type: array
                  items:
                    $ref: '#/components/schemas/ParticipantResource'
                  description: 'Everybody in the room, in join order.'
                tiles:
                  type: array
                  items:
                    $ref: '#/components/schemas/TileResource'
                  description: 'What is on air.'
                ingest:
                  anyOf:
                    - $ref: '#/components/schemas/IngestResource'
                    - type: "null"
                  description: 'How to publish; null unless a host.'
                call_settings:
                  $ref: '#/components/schemas/CallSettingsResource'
                connect_options:
                  anyOf:
                    - $ref: '#/components/schemas/ConnectOptionsResource'
                    - type: "null"
                  description: 'What a host may send at most; null unless a host.'
                playback:
                  $ref: '#/components/schemas/PlaybackResource'
                events_url:
                  type: string
                  description: 'Where to follow the room.'
                heartbeat_interval:
                  type: integer
                  description: 'Seconds between two signs of life.'
                session_timeout:
                  type: integer
                  description: 'Seconds after which a lost session is given up.'
                fast_reconnect_deadline:
                  type: integer
                  description: 'Seconds within which a return needs no new join.'
            JoinBody:
              description: 'The body of POST /v1/rooms/{room}/participants.'
              type: object
              properties:
                identity:
                  type: string
                  pattern: '^[A-Za-z0-9_-]{1,64}$'
                  description: 'Who joins, [A-Za-z0-9_-]{1,64}; the token''s identity when left out.'
                display_name:
                  type: string
                  maxLength: 400
                  description: >-
                    The name on the tile, up to 100 characters and 400 bytes of UTF-8; the identity when left out.
                mode:
                  type: string
                  enum: [SEND_AND_RECV, RECV_ONLY, SIGNALLING_ONLY]
                  description: 'What the participant wants to do; a token with modes of its own may leave it out.'
                metadata:
                  type: object
                  additionalProperties: true
                  description: 'Anything the clients want to know of each other, up to 4 KiB.'
                avatar:
                  type: string
                  description: >-
                    What stands for the participant while there is no picture: asset:NAME, or an http:// or
                    https:// URL.
                call_settings:
                  $ref: '#/components/schemas/CallSettingsBody'
                  description: 'What the client is about to send and play.'
                connect_options:
                  $ref: '#/components/schemas/ConnectOptionsBody'
                  description: 'What the client would send at most.'
                invitation_sid:
                  type: string
                  description: 'The accepted invitation that allows the mode.'
            ModeAnswer:
              description: 'The answer to a change of mode.'
              type: object
              required:
                - participant
                - ingest
              properties:
                participant:
                  $ref: '#/components/schemas/ParticipantResource'
                ingest:
                  anyOf:
                    - $ref: '#/components/schemas/IngestResource'
                    - type: "null"
                  description: 'How to publish; null unless a new host.'
            ModeBody:
              description: 'The body of POST /v1/rooms/{room}/participants/{participant}/mode.'
              type: object
              required:
                - mode
              properties:
                mode:
                  type: string
                  enum: [SEND_AND_RECV, RECV_ONLY, SIGNALLING_ONLY]
                  description: 'The mode to change to.'
            RTMPIngestResource:
              description: 'Where and how a host publishes by RTMP.'
              type: object
              required:
                - url
                - stream_key
                - screen_stream_key
              properties:
                url:
                  type: string
                  description: 'The server address for the encoder.'
                stream_key:
                  type: string
                  description: 'The secret for camera and microphone; shown only here.'
                screen_stream_key:
                  type: string
                  description: 'The secret for the screen; shown only here.'
            ReconnectBody:
              description: 'The body of POST /v1/rooms/{room}/participants/{participant}/reconnect.'
              type: object
              required:
                - session_id
              properties:
                session_id:
                  type: string
                  description: 'From the join.'
                last_event_id:
                  type: [integer, string]
                  description: 'The revision of the latest event that was read.'
        """
}
