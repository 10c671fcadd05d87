extension OpenAPIDocument {
    /// The audience of a broadcast, or of a time, as a whole.
    static let summarySchemas = """
            ViewershipPeriod:
              description: 'The answer of GET /v1/viewership/summary: all rooms together over a time of whole minutes.'
              type: object
              required:
                - from
                - to
                - broadcasts
                - on_air_seconds
                - peak_viewers
                - peak_kind
                - peak_note
                - live_peak_viewers
                - peak_at
                - average_viewers
                - average_minute_audience
                - average_minute_audience_minutes
                - joins
                - leaves
                - switches
                - uniques
                - watch_hours
                - average_watch_seconds
                - average_startup_seconds
                - stalled_seconds
                - rebuffer_ratio
                - by_protocol
                - by_rendition
                - by_region
                - by_client
              properties:
                from:
                  type: string
                  format: date-time
                  description: 'Where it begins.'
                to:
                  type: string
                  format: date-time
                  description: 'Where it ends.'
                broadcasts:
                  type: integer
                  description: 'Broadcasts of which anything was counted in it.'
                on_air_seconds:
                  type: number
                  description: 'For how long any program was on the air; the averages are over this time.'
                peak_viewers:
                  type: integer
                  description: >-
                    The most viewers at once over all rooms: settled once every broadcast of the time is over, and live
                    before.
                peak_kind:
                  type: string
                  enum: [live, settled]
                  description: >-
                    How that was found: live, as it was counted at the time, from the proof that somebody watches until the
                    time-out; or settled, from the beginnings and ends of all playbacks.
                peak_note:
                  type: [string, "null"]
                  description: 'Why the settled peak is above the live one; null where it is not.'
                live_peak_viewers:
                  type: integer
                  description: 'The most viewers at once over all rooms as they were counted live.'
                peak_at:
                  type: [string, "null"]
                  format: date-time
                  description: 'When the peak was, of a live one the minute; null without viewers.'
                average_viewers:
                  type: number
                  description: 'Viewers on average over the time on the air (ACV).'
                average_minute_audience:
                  type: number
                  description: >-
                    The average audience of the minutes on the air, each with the part of it that was for its weight (AMA).
                average_minute_audience_minutes:
                  type: number
                  description: 'Of how many minutes that is; a part of a minute counts as that part.'
                joins:
                  type: integer
                  description: 'Playbacks that began.'
                leaves:
                  type: integer
                  description: 'Playbacks that ended for good.'
                switches:
                  type: integer
                  description: 'Changes of rendition or protocol.'
                uniques:
                  description: >-
                    Distinct viewers; one of two rooms is two. Null where the single playbacks are kept no longer.
                  anyOf:
                    - $ref: '#/components/schemas/UniquesResource'
                    - type: "null"
                watch_hours:
                  type: number
                  description: 'Time watched by all together, in hours.'
                average_watch_seconds:
                  type: number
                  description: 'Time watched on average by one playback that began.'
                average_startup_seconds:
                  type: [number, "null"]
                  description: >-
                    Time from a request to its first media on average; null where it is not known of anybody.
                stalled_seconds:
                  type: number
                  description: 'Time that players waited for media in the midst of it.'
                rebuffer_ratio:
                  type: number
                  description: 'Part of the time watched in which players waited for media: stalled / (playing + stalled).'
                by_protocol:
                  type: object
                  additionalProperties:
                    $ref: '#/components/schemas/ViewershipSliceResource'
                  description: 'By how they watched.'
                by_rendition:
                  type: object
                  additionalProperties:
                    $ref: '#/components/schemas/ViewershipSliceResource'
                  description: 'By rendition; the empty one is the program as it is.'
                by_region:
                  type: object
                  additionalProperties:
                    $ref: '#/components/schemas/ViewershipSliceResource'
                  description: 'By country or region; empty where nobody knows.'
                by_client:
                  type: object
                  additionalProperties:
                    $ref: '#/components/schemas/ViewershipSliceResource'
                  description: 'By kind of player.'
            ViewershipSliceResource:
              description: 'What one group of a broadcast''s viewers did, or of those of all rooms in a time.'
              type: object
              required:
                - joins
                - leaves
                - switches
                - uniques
                - peak_viewers
                - peak_kind
                - peak_note
                - live_peak_viewers
                - average_viewers
                - average_minute_audience
                - watch_time_seconds
                - average_startup_seconds
                - stalled_seconds
                - rebuffer_ratio
              properties:
                joins:
                  type: integer
                  description: 'Playbacks that began.'
                leaves:
                  type: integer
                  description: 'Playbacks that ended for good.'
                switches:
                  type: integer
                  description: 'Changes of rendition or protocol, to the one that is told of.'
                uniques:
                  description: >-
                    Distinct viewers, by what their playbacks were last, and by all renditions that they played; null
                    where the single playbacks are kept no longer.
                  anyOf:
                    - $ref: '#/components/schemas/UniquesResource'
                    - type: "null"
                peak_viewers:
                  type: [integer, "null"]
                  description: >-
                    The most viewers at once: settled where it is known, and live before; null where nobody knows.
                peak_kind:
                  type: string
                  enum: [live, settled]
                  description: >-
                    How that was found: live, as it was counted at the time, from the proof that somebody watches until the
                    time-out; or settled, from the beginnings and ends of all playbacks.
                peak_note:
                  type: [string, "null"]
                  description: 'Why the settled peak is above the live one; null where it is not.'
                live_peak_viewers:
                  type: [integer, "null"]
                  description: >-
                    The most viewers at once as they were counted live, once a second; null where nobody knows.
                average_viewers:
                  type: number
                  description: 'Viewers on average over the time on the air (ACV).'
                average_minute_audience:
                  type: number
                  description: >-
                    The average audience of the minutes on the air, each with the part of it that was for its weight (AMA).
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
                rebuffer_ratio:
                  type: number
                  description: 'Part of the time watched in which players waited for media: stalled / (playing + stalled).'
            ViewershipSummary:
              description: 'The answer of GET /v1/rooms/{room}/viewership/summary: one broadcast as a whole.'
              type: object
              required:
                - room
                - began_at
                - ended_at
                - on_air_seconds
                - peak_viewers
                - peak_kind
                - peak_note
                - peak_at
                - live_peak_viewers
                - average_viewers
                - average_minute_audience
                - average_minute_audience_minutes
                - joins
                - leaves
                - switches
                - uniques
                - watch_hours
                - average_watch_seconds
                - average_startup_seconds
                - stalled_seconds
                - rebuffer_ratio
                - coverage
                - excluded
                - settled
                - by_protocol
                - by_rendition
                - by_region
                - by_client
              properties:
                room:
                  type: string
                  description: 'The room''s unique name.'
                began_at:
                  type: string
                  format: date-time
                  description: 'When the broadcast began.'
                ended_at:
                  type: [string, "null"]
                  format: date-time
                  description: 'Null while it lasts.'
                on_air_seconds:
                  type: number
                  description: 'For how long its program was on the air; the averages are over this time.'
                peak_viewers:
                  type: integer
                  description: >-
                    The most viewers at once: as they were counted live while the broadcast lasts, and settled when it is
                    over, without those who had left and were not yet timed out.
                peak_kind:
                  type: string
                  enum: [live, settled]
                  description: >-
                    How that was found: live, as it was counted at the time, from the proof that somebody watches until the
                    time-out; or settled, from the beginnings and ends of all playbacks.
                peak_note:
                  type: [string, "null"]
                  description: 'Why the settled peak is above the live one; null where it is not.'
                peak_at:
                  type: [string, "null"]
                  format: date-time
                  description: 'When that was; null before the first viewer.'
                live_peak_viewers:
                  type: integer
                  description: 'The most viewers at once as it was shown live.'
                average_viewers:
                  type: number
                  description: 'Viewers on average over the time on the air (ACV).'
                average_minute_audience:
                  type: number
                  description: >-
                    The average audience of the minutes on the air, each with the part of it that was for its weight (AMA).
                average_minute_audience_minutes:
                  type: number
                  description: 'Of how many minutes that is; a part of a minute counts as that part.'
                joins:
                  type: integer
                  description: 'Playbacks that began.'
                leaves:
                  type: integer
                  description: 'Playbacks that ended for good.'
                switches:
                  type: integer
                  description: 'Changes of rendition or protocol.'
                uniques:
                  $ref: '#/components/schemas/UniquesResource'
                watch_hours:
                  type: number
                  description: 'Time watched by all together, in hours.'
                average_watch_seconds:
                  type: number
                  description: 'Time watched on average by one playback.'
                average_startup_seconds:
                  type: [number, "null"]
                  description: >-
                    Time from a request to its first media on average; null where it is not known of anybody.
                stalled_seconds:
                  type: number
                  description: 'Time that players waited for media in the midst of it.'
                rebuffer_ratio:
                  type: number
                  description: 'Part of the time watched in which players waited for media: stalled / (playing + stalled).'
                coverage:
                  type: [number, "null"]
                  description: >-
                    Part of the viewers by HLS whose players report of themselves, whoever took a session
                    id and was never seen again among those who do not; null without such viewers.
                excluded:
                  type: object
                  additionalProperties: { type: integer }
                  description: 'Sessions and requests that never counted, by the reason.'
                settled:
                  type: boolean
                  description: 'No more is to come: the broadcast is over.'
                by_protocol:
                  type: object
                  additionalProperties:
                    $ref: '#/components/schemas/ViewershipSliceResource'
                  description: 'By how they watched.'
                by_rendition:
                  type: object
                  additionalProperties:
                    $ref: '#/components/schemas/ViewershipSliceResource'
                  description: 'By rendition; the empty one is the program as it is.'
                by_region:
                  type: object
                  additionalProperties:
                    $ref: '#/components/schemas/ViewershipSliceResource'
                  description: 'By country or region; empty where nobody knows.'
                by_client:
                  type: object
                  additionalProperties:
                    $ref: '#/components/schemas/ViewershipSliceResource'
                  description: 'By kind of player.'
        """
}
