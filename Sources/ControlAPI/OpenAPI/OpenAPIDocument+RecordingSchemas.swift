extension OpenAPIDocument {
    /// The words of recordings and renditions.
    static let recordingsSchemas = """
            RecordedFileResource:
              description: 'One file of a recording.'
              type: object
              required:
                - sid
                - run
                - part
                - room_sid
                - room_name
                - state
                - started_at
                - ended_at
                - duration
                - bytes
                - width
                - height
                - codecs
                - media_url
              properties:
                sid:
                  type: string
                  description: 'RC and 32 hexadecimal digits.'
                run:
                  type: string
                  description: 'The run, which all files between a start and a stop share.'
                part:
                  type: integer
                  description: 'Its place in that run, from 1.'
                room_sid:
                  type: string
                  description: 'The sid of the room.'
                room_name:
                  type: string
                  description: 'The room''s unique name.'
                state:
                  type: string
                  description: 'recording, completed, interrupted or failed.'
                started_at:
                  type: string
                  format: date-time
                  description: 'When its first picture was shown.'
                ended_at:
                  type: [string, "null"]
                  format: date-time
                  description: 'When it ended; null while it is written.'
                duration:
                  type: number
                  description: 'Seconds of the program in it.'
                bytes:
                  type: integer
                  description: 'Bytes that can be fetched.'
                width:
                  type: [integer, "null"]
                  description: 'Pixels across; null without video.'
                height:
                  type: [integer, "null"]
                  description: 'Pixels down; null without video.'
                codecs:
                  type: string
                  description: 'The codecs as RFC 6381 names them.'
                media_url:
                  type: string
                  description: 'Where the file itself is.'
            RecordingList:
              description: 'A page of recorded files.'
              type: object
              required:
                - recordings
                - meta
              properties:
                recordings:
                  type: array
                  items:
                    $ref: '#/components/schemas/RecordedFileResource'
                  description: 'The oldest first.'
                meta:
                  $ref: '#/components/schemas/PageResource'
            RecordingResource:
              description: 'How the recording of a room''s program is doing.'
              type: object
              required:
                - state
                - run
                - started_at
                - file_sid
                - dropped_packets
                - error
              properties:
                state:
                  type: string
                  description: 'RECORDING_STARTING, RECORDING_STARTED, RECORDING_STOPPING or RECORDING_STOPPED.'
                run:
                  type: [string, "null"]
                  description: 'The run; null when it never ran.'
                started_at:
                  type: [string, "null"]
                  format: date-time
                  description: 'When its first file began; null before.'
                file_sid:
                  type: [string, "null"]
                  description: 'The file that is written, or was written last.'
                dropped_packets:
                  type: integer
                  description: 'Packets that were not recorded because the disk was too slow.'
                error:
                  anyOf:
                    - $ref: '#/components/schemas/ErrorResource'
                    - type: "null"
                  description: 'Why it ended by itself; null unless it did.'
            RenditionResource:
              description: 'The program once more in a smaller size; a usual size''s name says the rest.'
              type: object
              required:
                - name
              properties:
                name:
                  type: string
                  description: 'Such as 720p; it is played as ROOM_720p.'
                width:
                  type: integer
                  description: 'Pixels across, even, 160 to the program''s.'
                height:
                  type: integer
                  description: 'Pixels down, even, 90 to the program''s.'
                fps:
                  type: [number, string]
                  description: 'Pictures per second, the program''s divided by a whole number.'
                video_bitrate:
                  type: integer
                  description: >-
                    Video kilobits per second, 10 to 10 000. Left out: what suits the size, 5000 at 1080p, 3000 at 720p,
                    2000 at 480p and 1000 at 360p, by the number of pixels between these and below, at least 300; above 30
                    pictures a second more, half as much again at 60.
        """
}
