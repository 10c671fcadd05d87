extension OpenAPIDocument {
    /// The words of the audience's reports.
    static let viewershipSchemas = """
            LogReceiptResource:
              description: 'The answer of POST /v1/cdn-logs: what became of the lines.'
              type: object
              required:
                - taken
                - ignored
                - nameless
                - malformed
                - late
                - dropped
                - repeated
              properties:
                taken:
                  type: integer
                  description: 'Requests for media playlists, to be counted as such.'
                ignored:
                  type: integer
                  description: 'They tell of something else, or of a room that is another''s.'
                nameless:
                  type: integer
                  description: 'Requests for media playlists that nothing says whose they were.'
                malformed:
                  type: integer
                  description: 'No JSON, or without an address or a status.'
                late:
                  type: integer
                  description: 'Older than viewership.log_lateness allows, 90 seconds unless it is set, or as far from the future.'
                dropped:
                  type: integer
                  description: 'There was no room for them.'
                repeated:
                  type: integer
                  description: 'They came before, and change nothing.'
            SeriesPointResource:
              description: 'One step of a series, of all viewers of a room or of one group of them.'
              type: object
              required:
                - at
                - group
                - average_viewers
                - peak_viewers
                - joins
                - leaves
                - watch_time_seconds
                - average_startup_seconds
                - stalled_seconds
              properties:
                at:
                  type: string
                  format: date-time
                  description: 'Where the step begins.'
                group:
                  type: [string, "null"]
                  description: 'Which group, as hls; null where the viewers are not grouped.'
                average_viewers:
                  type: number
                  description: 'Viewers on average over the step.'
                peak_viewers:
                  type: [integer, "null"]
                  description: >-
                    The most viewers at once, counted live; of a group as it was counted once a second; null where nobody knows.
                joins:
                  type: integer
                  description: 'Playbacks that began.'
                leaves:
                  type: integer
                  description: 'Playbacks that ended for good.'
                watch_time_seconds:
                  type: number
                  description: 'Time watched by all together.'
                average_startup_seconds:
                  type: [number, "null"]
                  description: >-
                    Time from a request to its first media on average; null where it is not known of anybody.
                stalled_seconds:
                  type: number
                  description: 'Time that players waited for media in the midst of it.'
            UniquesResource:
              description: 'Distinct viewers of a broadcast.'
              type: object
              required:
                - users
                - devices
                - estimated
                - approximate
              properties:
                users:
                  type: integer
                  description: 'Known by their tokens.'
                devices:
                  type: integer
                  description: >-
                    By token, by the id that a device keeps, or else by playback: never fewer than there were.
                estimated:
                  type: integer
                  description: 'By address and player: an estimate, in which one viewer of two days is two.'
                approximate:
                  type: boolean
                  description: 'One of them is estimated to 0.8 %: of more than a million, in a group or a time of more than 100,000.'
            ViewerSessionList:
              description: 'The answer of GET /v1/rooms/{room}/viewership/sessions.'
              type: object
              required:
                - sessions
                - meta
              properties:
                sessions:
                  type: array
                  items:
                    $ref: '#/components/schemas/ViewerSessionResource'
                  description: 'In order of their beginning.'
                meta:
                  $ref: '#/components/schemas/PageResource'
            AbsenceResource:
              description: 'A time in which a playback was away, to go on as the same one.'
              type: object
              required:
                - from
                - to
              properties:
                from:
                  type: string
                  format: date-time
                  description: 'When it went.'
                to:
                  type: string
                  format: date-time
                  description: 'When it was back.'
            ViewerSessionResource:
              description: 'One playback of a broadcast, and of nobody in particular.'
              type: object
              required:
                - id
                - started_at
                - ended_at
                - away
                - watch_time_seconds
                - stalled_seconds
                - protocol
                - rendition
                - renditions
                - region
                - client
                - switches
                - bytes
                - end_reason
              properties:
                id:
                  type: string
                  description: 'Tells it apart; not the session id that its player shows.'
                started_at:
                  type: string
                  format: date-time
                  description: 'First media.'
                ended_at:
                  type: [string, "null"]
                  format: date-time
                  description: 'Where the watching ended; null while it lasts.'
                away:
                  type: array
                  items:
                    $ref: '#/components/schemas/AbsenceResource'
                  description: >-
                    Times in between in which it was away, in their order. The settled peak is the most at once of all
                    that began, and have neither ended nor are away; who goes in a millisecond goes before anybody who
                    comes in it. In a table from/to of the first 32, and how many there are beyond.
                watch_time_seconds:
                  type: number
                  description: >-
                    Time watched, settled: of a playback that lasts, what it had watched at its last change.
                stalled_seconds:
                  type: number
                  description: 'Time that its player says it waited for media.'
                protocol:
                  type: string
                  description: 'sdk, rtmp, flv, hls or llhls.'
                rendition:
                  type: string
                  description: 'The latest rendition; empty for the program as it is.'
                renditions:
                  type: array
                  items: { type: string }
                  description: >-
                    All renditions that it played, eight at most, in the order in which they were first played.
                region:
                  type: string
                  description: 'Country or region, ISO codes; empty where nobody knows.'
                client:
                  type: string
                  description: 'web, ios, android, tv, tool or unknown.'
                switches:
                  type: integer
                  description: 'Changes of rendition or protocol.'
                bytes:
                  type: integer
                  description: >-
                    Bytes that it was sent: by a connection, told when it closes; by HLS its playlists, and the segments
                    that were asked for on a connection of its own.
                end_reason:
                  type: [string, "null"]
                  description: 'left, timed_out, too_slow, room_ended or shutdown; null while it lasts.'
            ViewershipSeries:
              description: 'The answer of GET /v1/rooms/{room}/viewership/timeseries, and of that for all rooms.'
              type: object
              required:
                - room
                - step
                - group_by
                - points
              properties:
                room:
                  type: string
                  description: 'The room''s unique name.'
                step:
                  type: integer
                  description: 'Seconds of a step.'
                group_by:
                  type: [string, "null"]
                  description: 'protocol, rendition, region or client; null for all together.'
                points:
                  type: array
                  items:
                    $ref: '#/components/schemas/SeriesPointResource'
                  description: 'In order of time; steps in which nothing was counted are left out.'
        """
}
