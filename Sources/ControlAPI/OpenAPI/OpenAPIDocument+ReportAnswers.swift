extension OpenAPIDocument {
    /// The answers of the audience's reports, among the components.
    static let reportAnswers =
        ([commonAnswers] + formats.map { answer(name: $0.name, schema: $0.schema) }).joined(separator: "\n")

    private static let formats = [
        (name: "SeriesReport", schema: "ViewershipSeries"),
        (name: "SummaryReport", schema: "ViewershipSummary"),
        (name: "PeriodReport", schema: "ViewershipPeriod"),
        (name: "SessionsReport", schema: "ViewerSessionList"),
    ]

    private static let commonAnswers = """
            Table:
              description: The report as a table; its first line names the columns.
              content:
                text/csv:
                  schema:
                    type: string
            Lines:
              description: The report as a line of JSON for each row.
              content:
                application/jsonl:
                  schema:
                    type: string
            Unchanged:
              description: The report is the one whose ETag If-None-Match names.
        """

    /// A report in the form that is asked for.
    private static func answer(name: String, schema: String) -> String {
        """
            \(name):
              description: The report.
              content:
                application/json:
                  schema:
                    $ref: '#/components/schemas/\(schema)'
                text/csv:
                  schema:
                    type: string
                application/jsonl:
                  schema:
                    type: string
        """
    }
}
