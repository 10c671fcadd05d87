extension OpenAPIDocument {
    /// The words of egress.
    static let egressSchemas = """
            BreakdownResource:
              description: 'Viewers by what tells them apart.'
              type: object
              required:
                - protocol
                - rendition
                - region
                - client
              properties:
                protocol:
                  type: object
                  additionalProperties: { type: integer }
                  description: 'By sdk, rtmp, flv, hls and llhls; all keys are there.'
                rendition:
                  type: object
                  additionalProperties: { type: integer }
                  description: 'By the name of the rendition; the empty one is the program as it is.'
                region:
                  type: object
                  additionalProperties: { type: integer }
                  description: 'By country, or country and region, in ISO codes; empty where nobody knows.'
                client:
                  type: object
                  additionalProperties: { type: integer }
                  description: 'By web, ios, android, tv, tool and unknown.'
            EgressResource:
              description: 'How the program leaves: the answer of GET /v1/rooms/{room}/egress.'
              type: object
              required:
                - broadcasting
                - livestream
                - hls
              properties:
                broadcasting:
                  type: boolean
                  description: 'The program leaves by an output or a playlist.'
                livestream:
                  $ref: '#/components/schemas/LivestreamResource'
                hls:
                  $ref: '#/components/schemas/HLSResource'
            HLSResource:
              description: 'A room''s playlist for the audience.'
              type: object
              required:
                - state
                - started_at
                - playback_hls_url
              properties:
                state:
                  type: string
                  description: 'HLS_STARTING, HLS_STARTED, HLS_PLAYABLE, HLS_STOPPING or HLS_STOPPED.'
                started_at:
                  type: [string, "null"]
                  format: date-time
                  description: 'When it became playable; null before.'
                playback_hls_url:
                  type: [string, "null"]
                  description: 'Where to play it; null before it is playable.'
            LivestreamResource:
              description: 'A room''s set of outputs.'
              type: object
              required:
                - state
                - started_at
                - end_reason
                - outputs
              properties:
                state:
                  type: string
                  description: >-
                    LIVESTREAM_STARTING, LIVESTREAM_STARTED, LIVESTREAM_STOPPING or
                    LIVESTREAM_STOPPED.
                started_at:
                  type: [string, "null"]
                  format: date-time
                  description: 'When the first output connected; null before.'
                end_reason:
                  type: [string, "null"]
                  description: >-
                    Why it stopped: command, max_duration, idle, not_started, lost or
                    room_ended; null while it runs.
                outputs:
                  type: array
                  items:
                    $ref: '#/components/schemas/OutputResource'
                  description: 'In the order they were given.'
                warnings:
                  type: array
                  items:
                    $ref: '#/components/schemas/WarningResource'
                  description: >-
                    What is not as the outputs' platforms ask for; left out when all is.
            OutputBody:
              description: 'Where to push the program to.'
              type: object
              required:
                - url
                - stream_key
              properties:
                name:
                  type: string
                  description: >-
                    The operator's name for the output, [A-Za-z0-9_-]{1,64}; made up when left
                    out.
                url:
                  type: string
                  format: uri
                  minLength: 8
                  pattern: '^[Rr][Tt][Mm][Pp][Ss]?://'
                  description: 'rtmp:// or rtmps://, without the stream key.'
                stream_key:
                  type: string
                  description: 'The secret part; never shown again.'
                rendition:
                  type: string
                  description: 'The rendition to push, such as 720p; the program itself when left out.'
                spare_url:
                  type: string
                  description: 'Where to push when url fails; nowhere else when left out.'
                spare_stream_key:
                  type: string
                  description: 'The stream key there; stream_key when left out.'
            OutputFaultResource:
              description: 'Why an output has no connection, or had none.'
              type: object
              required:
                - code
                - message
                - retry
              properties:
                code:
                  type: string
                  description: >-
                    key_refused, application_refused, hung_up, certificate, invalid_address,
                    forbidden_address, name_not_found, unreachable, timed_out, connection_lost,
                    stalled or local.
                message:
                  type: string
                  description: 'In words, for people.'
                retry:
                  type: string
                  description: 'soon, or slow when somebody has to change something first.'
            OutputResource:
              description: 'How one output is doing.'
              type: object
              required:
                - name
                - url
                - stream_key
                - state
                - bytes_sent
                - dropped_frames
                - reconnects
                - last_error
              properties:
                name:
                  type: string
                  description: 'The operator''s name for it.'
                url:
                  type: string
                  description: 'The address with credentials masked.'
                stream_key:
                  type: string
                  description: '**** and the last four characters.'
                state:
                  type: string
                  description: 'connecting, connected, interrupted, failed or stopped.'
                bytes_sent:
                  type: integer
                  format: int64
                  description: 'Bytes handed to the target.'
                dropped_frames:
                  type: integer
                  format: int64
                  description: 'Packets dropped because the target was too slow.'
                reconnects:
                  type: integer
                  format: int64
                  description: 'How often it connected again.'
                last_error:
                  anyOf:
                    - $ref: '#/components/schemas/OutputFaultResource'
                    - type: "null"
                  description: 'The latest failure; null without one.'
                spare_url:
                  type: string
                  description: 'The spare address with credentials masked; left out without one.'
                on_spare:
                  type: boolean
                  description: 'The spare address is the one in use; left out without one.'
            StartHLSBody:
              description: 'The body of POST /v1/rooms/{room}/hls/start.'
              type: object
              properties:
                layout:
                  $ref: '#/components/schemas/LayoutBody'
                  description: 'Changes the room''s layout at once.'
            StartLivestreamBody:
              description: 'The body of POST /v1/rooms/{room}/livestream/start.'
              type: object
              required:
                - outputs
              properties:
                outputs:
                  type: array
                  items:
                    $ref: '#/components/schemas/OutputBody'
                  description: 'At least one.'
                quality:
                  type: string
                  description: '1080p, 720p, 480p or 360p; must be what the room''s program is.'
                fps:
                  type: [number, string]
                  description: 'Must be what the room''s program has.'
                width:
                  type: integer
                  description: 'Must be what the room''s program has.'
                height:
                  type: integer
                  description: 'Must be what the room''s program has.'
                video_bitrate:
                  type: integer
                  description: 'Must be what the room''s program has.'
                audio_bitrate:
                  type: integer
                  description: 'Must be what the room''s program has.'
                max_duration:
                  type: integer
                  description: 'Seconds after which it stops by itself; 10 800 when left out.'
                min_idle_timeout:
                  type: integer
                  description: >-
                    Seconds of nothing to hear or see after which it stops by itself; 300 when
                    left out.
                layout:
                  $ref: '#/components/schemas/LayoutBody'
                  description: 'Changes the room''s layout at once.'
            ViewershipResource:
              description: 'How many watch a room.'
              type: object
              required:
                - room
                - concurrent_viewers
                - devices
                - peak_concurrent_viewers
                - peak_at
                - joins
                - watch_time_seconds
                - as_of
                - stale_ms
                - recovering
                - by
                - leaves
                - resumable
                - unfiltered_viewers
                - excluded
                - switches
                - stalled_seconds
                - average_startup_seconds
                - uniques
              properties:
                room:
                  type: string
                  description: 'The room''s unique name.'
                concurrent_viewers:
                  type: integer
                  description: 'Playbacks at this moment.'
                devices:
                  type: integer
                  description: 'Distinct viewers at this moment.'
                peak_concurrent_viewers:
                  type: integer
                  description: 'The most playbacks at one time, as they were counted live.'
                peak_at:
                  type: [string, "null"]
                  format: date-time
                  description: 'When that was; null before the first viewer.'
                joins:
                  type: integer
                  description: 'Playbacks that ever began.'
                watch_time_seconds:
                  type: number
                  description: 'All playbacks'' time together.'
                as_of:
                  type: string
                  format: date-time
                  description: 'The moment the numbers are of.'
                stale_ms:
                  type: integer
                  description: 'Milliseconds since that moment.'
                recovering:
                  type: boolean
                  description: 'After a restart, while players are still coming back.'
                by:
                  $ref: '#/components/schemas/BreakdownResource'
                leaves:
                  type: integer
                  description: 'Playbacks that ended for good.'
                resumable:
                  type: integer
                  description: 'Playbacks that ended and may still come back.'
                unfiltered_viewers:
                  type: integer
                  description: >-
                    Playbacks at this moment, those that do not count or are not yet proven to watch included.
                excluded:
                  type: object
                  additionalProperties: { type: integer }
                  description: 'Sessions and requests that never counted, by the reason.'
                switches:
                  type: integer
                  description: 'Changes of rendition or protocol.'
                stalled_seconds:
                  type: number
                  description: 'Time that players say they waited for media in the midst of it.'
                average_startup_seconds:
                  type: [number, "null"]
                  description: >-
                    Time from a request to its first media on average; null where it is not known of anybody.
                uniques:
                  $ref: '#/components/schemas/UniquesResource'
            ViewershipTotalsResource:
              description: 'The answer of GET /v1/viewership: all live rooms and their sum, of one moment.'
              type: object
              required:
                - total
                - rooms
              properties:
                total:
                  $ref: '#/components/schemas/ViewershipResource'
                rooms:
                  type: array
                  items:
                    $ref: '#/components/schemas/ViewershipResource'
                  description: 'The fullest first.'
            WarningResource:
              description: 'Something that went wrong beside the show, which goes on.'
              type: object
              required:
                - code
                - reason
                - message
                - output
                - seconds_left
              properties:
                code:
                  type: integer
                  description: 'The stable number.'
                reason:
                  type: string
                  description: >-
                    output_interrupted, output_failed, output_on_spare, output_on_main,
                    spare_unreachable, spare_reachable, output_slow, output_keeps_up,
                    stream_unsuitable, stream_suitable, rendition_stopped, rendition_resumed,
                    last_output, idle_soon or max_duration_soon.
                message:
                  type: string
                  description: 'What happened, for people.'
                output:
                  type: [string, "null"]
                  description: 'The output it is about; null when it is about none.'
                seconds_left:
                  type: [integer, "null"]
                  description: 'Seconds until the livestream stops by itself; null when it goes on.'
        """
}
