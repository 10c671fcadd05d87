extension OpenAPIDocument {
    /// The addresses of the audience's reports.
    static let viewershipPaths = reports.map(\.text).joined(separator: "\n") + "\n" + audienceEvents

    private static let reports = [
        AudienceReport(
            path: "/v1/rooms/{room}/viewership",
            operation: "readRoomViewership",
            summary: "Counts who watches a room"
        ),
        AudienceReport(
            path: "/v1/rooms/{room}/viewership/timeseries",
            operation: "readViewershipSeries",
            summary: "Viewers of a room over time",
            filters: ["From", "To", "Step", "GroupBy"],
            answer: "SeriesReport"
        ),
        AudienceReport(
            path: "/v1/rooms/{room}/viewership/summary",
            operation: "readViewershipSummary",
            summary: "One broadcast of a room as a whole",
            filters: ["BroadcastAt"],
            answer: "SummaryReport"
        ),
        AudienceReport(
            path: "/v1/rooms/{room}/viewership/sessions",
            operation: "readViewerSessions",
            summary: "The single playbacks of a broadcast",
            filters: ["BroadcastAt", "PageToken"],
            answer: "SessionsReport"
        ),
        AudienceReport(
            path: "/v1/viewership",
            operation: "readAllViewership",
            summary: "Counts who watches all live rooms"
        ),
        AudienceReport(
            path: "/v1/viewership/timeseries",
            operation: "readAllViewershipSeries",
            summary: "Viewers of all rooms together over time",
            filters: ["From", "To", "Step", "GroupBy"],
            answer: "SeriesReport"
        ),
        AudienceReport(
            path: "/v1/viewership/summary",
            operation: "readAllViewershipSummary",
            summary: "What was watched in all rooms together over a time of whole minutes",
            filters: ["PeriodFrom", "To"],
            answer: "PeriodReport"
        ),
    ]

    private static let audienceEvents = """
          /v1/viewership/events:
            get:
              operationId: followViewership
              summary: The figures of all rooms, as they change.
              description: >-
                For operators and monitors. Server-sent events named viewership, one a second at most, and one in 15 seconds
                where no figure changes; each is whole.
              responses:
                '200':
                  description: Events until the client is gone.
                  content:
                    text/event-stream:
                      schema:
                        $ref: '#/components/schemas/ViewershipTotalsResource'
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/cmcd:
            post:
              operationId: reportPlayback
              summary: What a player says of its own playing.
              description: >-
                For players, without a token. CMCD version 2 in event mode (CTA-5004-B): a report on each line of the body. A
                report counts for the session that its sid names, or for the room that its cid names.
              security: []
              requestBody:
                required: true
                content:
                  application/cmcd:
                    schema:
                      type: string
              \(answers("204", "Taken."))
            options:
              operationId: askToReport
              summary: Whether a page of another origin may report; it always may.
              security: []
              \(answers("204", "It may."))
          /v1/cdn-logs:
            post:
              operationId: tellRequests
              summary: What a server in front answered to players.
              description: >-
                For tokens of the role relay, as bearer or as the password of anybody, and for operators. A line of JSON for
                each request, of 16 KiB at most; 8 MiB at a time, 32 MiB expanded, 200000 lines and a
                second of processor time, one log of a token's identity at a time. Requests for media playlists count
                like those of their players to the gateway, as late as the log comes; all other lines, and those that
                cannot be read, are told of and do no harm. Names of Cloudflare's, Akamai's and Amazon's logs do as well.
              requestBody:
                required: true
                content:
                  application/x-ndjson:
                    schema:
                      description: 'A line.'
                      type: object
                      required:
                        - uri
                        - status
                      properties:
                        uri:
                          type: string
                          description: 'Path and query as the player asked, or the whole address.'
                        status:
                          type: integer
                          description: 'Of the answer; errors do not count.'
                        time:
                          type: [number, string]
                          description: >-
                            Since 1970, in seconds, milli-, micro- or nanoseconds, or RFC 3339; of this moment when left out.
                        method:
                          type: string
                          description: 'GET when left out.'
                        sid:
                          type: string
                          description: 'The session, where the query does not name it.'
                        cmcd:
                          type: string
                          description: 'CMCD items, where they are not in the query.'
                        cmcd_session:
                          type: string
                          description: 'The header field CMCD-Session.'
                        playback_session_id:
                          type: string
                          description: 'The header field X-Playback-Session-Id.'
                        ip:
                          type: string
                          description: 'The player''s address, which is not kept.'
                        user_agent:
                          type: string
                          description: 'The header field User-Agent.'
                        country:
                          type: string
                          description: 'Country, or country and region, ISO codes.'
                        sec_purpose:
                          type: string
                          description: 'The header field Sec-Purpose.'
              \(answers("200", "What became of the lines.", "LogReceiptResource"))
        """
}
