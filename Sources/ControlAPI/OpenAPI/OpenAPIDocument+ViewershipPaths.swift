extension OpenAPIDocument {
    /// The addresses of the audience's reports.
    static let viewershipPaths = """
          /v1/rooms/{room}/viewership.csv:
            get:
              operationId: readRoomViewershipAsTable
              summary: Counts who watches a room; as a table.
              description: For operators, monitors, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
              responses:
                '200':
                  description: The report.
                  content:
                    text/csv:
                      schema:
                        type: string
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/viewership.jsonl:
            get:
              operationId: readRoomViewershipAsLines
              summary: Counts who watches a room; a line of JSON for each row.
              description: For operators, monitors, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
              responses:
                '200':
                  description: The report.
                  content:
                    application/jsonl:
                      schema:
                        type: string
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/viewership/timeseries:
            get:
              operationId: readViewershipSeries
              summary: Viewers of a room over time.
              description: For operators, monitors, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/From'
                - $ref: '#/components/parameters/To'
                - $ref: '#/components/parameters/Step'
                - $ref: '#/components/parameters/GroupBy'
                - $ref: '#/components/parameters/Format'
              responses:
                '200':
                  description: The report.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/ViewershipSeries'
                    text/csv:
                      schema:
                        type: string
                    application/jsonl:
                      schema:
                        type: string
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/viewership/timeseries.csv:
            get:
              operationId: readViewershipSeriesAsTable
              summary: Viewers of a room over time; as a table.
              description: For operators, monitors, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/From'
                - $ref: '#/components/parameters/To'
                - $ref: '#/components/parameters/Step'
                - $ref: '#/components/parameters/GroupBy'
              responses:
                '200':
                  description: The report.
                  content:
                    text/csv:
                      schema:
                        type: string
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/viewership/timeseries.jsonl:
            get:
              operationId: readViewershipSeriesAsLines
              summary: Viewers of a room over time; a line of JSON for each row.
              description: For operators, monitors, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/From'
                - $ref: '#/components/parameters/To'
                - $ref: '#/components/parameters/Step'
                - $ref: '#/components/parameters/GroupBy'
              responses:
                '200':
                  description: The report.
                  content:
                    application/jsonl:
                      schema:
                        type: string
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/viewership/summary:
            get:
              operationId: readViewershipSummary
              summary: One broadcast of a room as a whole.
              description: For operators, monitors, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/BroadcastAt'
                - $ref: '#/components/parameters/Format'
              responses:
                '200':
                  description: The report.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/ViewershipSummary'
                    text/csv:
                      schema:
                        type: string
                    application/jsonl:
                      schema:
                        type: string
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/viewership/summary.csv:
            get:
              operationId: readViewershipSummaryAsTable
              summary: One broadcast of a room as a whole; as a table.
              description: For operators, monitors, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/BroadcastAt'
              responses:
                '200':
                  description: The report.
                  content:
                    text/csv:
                      schema:
                        type: string
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/viewership/summary.jsonl:
            get:
              operationId: readViewershipSummaryAsLines
              summary: One broadcast of a room as a whole; a line of JSON for each row.
              description: For operators, monitors, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/BroadcastAt'
              responses:
                '200':
                  description: The report.
                  content:
                    application/jsonl:
                      schema:
                        type: string
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/viewership/sessions:
            get:
              operationId: readViewerSessions
              summary: The single playbacks of a broadcast.
              description: For operators, monitors, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/BroadcastAt'
                - $ref: '#/components/parameters/PageToken'
                - $ref: '#/components/parameters/Format'
              responses:
                '200':
                  description: The report.
                  content:
                    application/json:
                      schema:
                        $ref: '#/components/schemas/ViewerSessionList'
                    text/csv:
                      schema:
                        type: string
                    application/jsonl:
                      schema:
                        type: string
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/viewership/sessions.csv:
            get:
              operationId: readViewerSessionsAsTable
              summary: The single playbacks of a broadcast; as a table.
              description: For operators, monitors, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/BroadcastAt'
                - $ref: '#/components/parameters/PageToken'
              responses:
                '200':
                  description: The report.
                  content:
                    text/csv:
                      schema:
                        type: string
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/rooms/{room}/viewership/sessions.jsonl:
            get:
              operationId: readViewerSessionsAsLines
              summary: The single playbacks of a broadcast; a line of JSON for each row.
              description: For operators, monitors, and tokens with can_admin streaming.
              parameters:
                - $ref: '#/components/parameters/Room'
                - $ref: '#/components/parameters/BroadcastAt'
                - $ref: '#/components/parameters/PageToken'
              responses:
                '200':
                  description: The report.
                  content:
                    application/jsonl:
                      schema:
                        type: string
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/viewership.csv:
            get:
              operationId: readAllViewershipAsTable
              summary: Counts who watches all live rooms; as a table.
              description: For operators and monitors.
              responses:
                '200':
                  description: The report.
                  content:
                    text/csv:
                      schema:
                        type: string
                default:
                  $ref: '#/components/responses/Refusal'
          /v1/viewership.jsonl:
            get:
              operationId: readAllViewershipAsLines
              summary: Counts who watches all live rooms; a line of JSON for each row.
              description: For operators and monitors.
              responses:
                '200':
                  description: The report.
                  content:
                    application/jsonl:
                      schema:
                        type: string
                default:
                  $ref: '#/components/responses/Refusal'
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
