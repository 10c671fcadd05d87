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
    ]

    private static let audienceEvents = """
          /v1/viewership/events:
            get:
              operationId: followViewership
              summary: The figures of all rooms, once a second.
              description: For operators and monitors. Server-sent events named viewership; each is whole.
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
              responses:
                '204':
                  description: Taken.
                default:
                  $ref: '#/components/responses/Refusal'
        """
}
