extension OpenAPIDocument {
    /// The words of rooms.
    static let roomsSchemas = """
            AutoStartBody:
              description: 'What a room begins by itself.'
              type: object
              properties:
                livestream:
                  $ref: '#/components/schemas/StartLivestreamBody'
                  description: 'The outputs to push to.'
                hls:
                  $ref: '#/components/schemas/StartHLSBody'
                  description: 'The playlist for the audience.'
            CountsResource:
              description: 'How many are in a room and watch it.'
              type: object
              required:
                - hosts
                - audience
                - anonymous
                - signalling_only
                - participants
              properties:
                hosts:
                  type: integer
                  description: 'Participants that publish.'
                audience:
                  type: integer
                  description: 'Who watches: participants that watch, once each, and anonymous players; never a host.'
                anonymous:
                  type: integer
                  description: 'Players that belong to no participant that is present.'
                signalling_only:
                  type: integer
                  description: 'Participants that neither publish nor watch.'
                participants:
                  type: integer
                  description: 'Signalled participants of every mode.'
            CreateRoomBody:
              description: 'The body of POST /v1/rooms.'
              type: object
              required:
                - unique_name
              properties:
                unique_name:
                  type: string
                  description: 'The room''s name, [A-Za-z0-9_-]{1,64}.'
                type:
                  type: string
                  enum: [default, livestream, audio_room, private]
                  default: default
                  description: >-
                    What kind of call it is, which takes away what tokens grant; operators may do everything, and tokens
                    with can_admin participants join and speak. default: nothing is taken away. livestream: nobody becomes
                    a host but by an invitation or an accepted hand (4065); who joins without is audience. audio_room: the
                    same, and operators alone start and stop livestream and HLS (20106). private: only those join who have
                    accepted an invitation (20106).
                max_participants:
                  type: integer
                  description: 'Signalled participants, 1 to 10 000; 100 when left out.'
                max_hosts:
                  type: integer
                  description: 'Hosts, 1 to 50; 12 when left out.'
                max_audience:
                  type: integer
                  description: >-
                    Viewers, whatever they play with, 1 to 1 000 000; any number when left out. Further ones are refused
                    with 53105. Who is counted by the log of a content network cannot be refused.
                call_settings:
                  $ref: '#/components/schemas/CallSettingsBody'
                  description: >-
                    What clients begin with whose users have not chosen; what is left out is as the gateway's settings
                    rooms.call.* have it, else on.
                empty_room_timeout:
                  type: integer
                  description: 'Seconds an empty room stays; 300 when left out.'
                unused_room_timeout:
                  type: integer
                  description: 'Seconds a room that nobody joined stays; 300 when left out.'
                backstage:
                  type: boolean
                  description: >-
                    The program is made, but withheld from the audience until the room goes
                    live.
                layout:
                  $ref: '#/components/schemas/LayoutBody'
                  description: 'The arrangement of the tiles; a grid when left out.'
                sound:
                  $ref: '#/components/schemas/RoomSoundBody'
                  description: 'How the sound of the hosts is mixed.'
                linger:
                  type: integer
                  description: >-
                    Seconds for which the program goes on with its last slate once the room has ended, 0 to
                    60; when left out, 10 once a host was seen or heard, and for a room with a slate of
                    its own for the end, else 0.
                program:
                  $ref: '#/components/schemas/ProgramResource'
                recording:
                  type: boolean
                  description: 'Records the program whenever it is on; false when left out.'
                auto_start:
                  $ref: '#/components/schemas/AutoStartBody'
                  description: 'What begins by itself when the program begins.'
            PageResource:
              description: 'Where a list goes on.'
              type: object
              required:
                - page_size
                - next_page_token
              properties:
                page_size:
                  type: integer
                  description: 'Entries on a page at most.'
                next_page_token:
                  type: [string, "null"]
                  description: 'Names the next page; null on the last.'
            PlaybackResource:
              description: 'Where a room''s program is played from.'
              type: object
              required:
                - hls_url
                - rtmp_url
                - flv_url
                - viewer_token
              properties:
                hls_url:
                  type: string
                  description: 'HLS, a multivariant playlist.'
                rtmp_url:
                  type: string
                  description: 'RTMP.'
                flv_url:
                  type: string
                  description: 'HTTP-FLV.'
                viewer_token:
                  type: [string, "null"]
                  description: 'The participant''s own session id; null where nobody in particular asks.'
            ProgramResource:
              description: 'What a room''s program looks and sounds like.'
              type: object
              properties:
                width:
                  type: integer
                  description: 'Canvas width in pixels, even, 160 to 1920.'
                height:
                  type: integer
                  description: 'Canvas height in pixels, even, 90 to 1920.'
                fps:
                  type: [number, string]
                  description: 'Pictures per second, 1 to 60: 30, 29.97, or "30000/1001".'
                video_bitrate:
                  type: integer
                  description: >-
                    Video kilobits per second, 10 to 10 000. Left out: what suits the size, 5000 at 1080p, 3000 at 720p,
                    2000 at 480p and 1000 at 360p, by the number of pixels between these and below, at least 300; above 30
                    pictures a second more, half as much again at 60.
                audio_bitrate:
                  type: integer
                  description: 'Audio kilobits per second, 10 to 320.'
                preset:
                  type: string
                  description: >-
                    Encoder effort: ultrafast, superfast, veryfast, faster, fast or medium, each as x264 knows it; but
                    veryfast, the default, searches less for a third less CPU.
                key_interval:
                  type: integer
                  description: 'Seconds between key pictures, 1 to 10.'
                jitter_target:
                  type: integer
                  description: >-
                    Milliseconds a host's media is held back to even out its arrival, 60 to
                    2000.
                renditions:
                  type: array
                  items:
                    $ref: '#/components/schemas/RenditionResource'
                  description: 'The program once more in smaller sizes, the largest first.'
                audio_only:
                  type: boolean
                  description: 'Whether the sound is offered by itself too, as ROOM_audio.'
            RoomList:
              description: 'The answer of GET /v1/rooms.'
              type: object
              required:
                - rooms
                - meta
              properties:
                rooms:
                  type: array
                  items:
                    $ref: '#/components/schemas/RoomResource'
                  description: 'By date of creation.'
                meta:
                  $ref: '#/components/schemas/PageResource'
            RoomResource:
              description: 'A room.'
              type: object
              required:
                - sid
                - unique_name
                - status
                - backstage
                - was_on_air
                - max_participants
                - max_hosts
                - empty_room_timeout
                - unused_room_timeout
                - counts
                - dominant_speaker_sid
                - layout
                - sound
                - linger
                - egress
                - program
                - playback
                - revision
                - date_created
                - date_updated
                - end_time
                - links
              properties:
                sid:
                  type: string
                  description: 'RM….'
                unique_name:
                  type: string
                  description: 'The name in addresses.'
                type:
                  type: string
                  enum: [default, livestream, audio_room, private]
                  description: 'What kind of call it is.'
                status:
                  type: string
                  description: 'in-progress or completed.'
                backstage:
                  type: boolean
                  description: 'The program is withheld from the audience.'
                was_on_air:
                  type: boolean
                  description: 'The audience saw or heard a host at least once.'
                max_participants:
                  type: integer
                  description: 'Signalled participants at most.'
                max_hosts:
                  type: integer
                  description: 'Hosts at most.'
                max_audience:
                  type: integer
                  description: 'Viewers at most; left out where there is no limit.'
                call_settings:
                  $ref: '#/components/schemas/CallSettingsResource'
                  description: 'What clients begin with whose users have not chosen.'
                empty_room_timeout:
                  type: integer
                  description: 'Seconds an empty room stays.'
                unused_room_timeout:
                  type: integer
                  description: 'Seconds a room that nobody joined stays.'
                counts:
                  $ref: '#/components/schemas/CountsResource'
                dominant_speaker_sid:
                  type: [string, "null"]
                  description: 'Who speaks; null while nobody does.'
                layout:
                  $ref: '#/components/schemas/LayoutSettingsResource'
                sound:
                  $ref: '#/components/schemas/RoomSoundResource'
                  description: 'How the sound of the hosts is mixed.'
                linger:
                  type: integer
                  description: >-
                    Seconds for which the program goes on with its last slate once the room has ended.
                degradation:
                  $ref: '#/components/schemas/MixerLoadResource'
                  description: >-
                    How the room's mixer is doing, and what the program does without; left out
                    before the mixer has said so.
                egress:
                  $ref: '#/components/schemas/EgressResource'
                program:
                  $ref: '#/components/schemas/ProgramResource'
                playback:
                  $ref: '#/components/schemas/PlaybackResource'
                revision:
                  type: integer
                  format: int64
                  description: 'The revision of the room''s latest event.'
                date_created:
                  type: string
                  format: date-time
                  description: 'When it was made.'
                date_updated:
                  type: string
                  format: date-time
                  description: 'When it last changed.'
                end_time:
                  type: [string, "null"]
                  format: date-time
                  description: 'When it ended; null while in progress.'
                links:
                  type: object
                  additionalProperties: { type: string }
                  description: 'Addresses of what belongs to the room, by name.'
            UpdateRoomBody:
              description: 'The body of POST /v1/rooms/{room}.'
              type: object
              required:
                - status
              properties:
                status:
                  type: string
                  description: 'completed ends the room.'
        """
}
