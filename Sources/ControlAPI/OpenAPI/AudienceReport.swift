/// A report of the audience as the description has it: an operation for each of its forms.
struct AudienceReport {
    let path: String
    /// What its operations are called, without their form.
    let operation: String
    /// One sentence, without its end.
    let summary: String
    /// Parameters of the query, by their names among the components.
    var filters: [String] = []
    /// The component that answers in the form that is asked for; nil where that operation is described elsewhere.
    var answer: String?

    /// The operations.
    var text: String {
        let whole = answer.map { operation(ending: "", form: "", note: "", filters + ["Format"], answer: $0) }
        let forms = [
            operation(ending: ".csv", form: "AsTable", note: "; as a table", filters, answer: "Table"),
            operation(ending: ".jsonl", form: "AsLines", note: "; a line of JSON a row", filters, answer: "Lines"),
        ]
        return ([whole].compactMap(\.self) + forms).joined(separator: "\n")
    }

    private func operation(
        ending: String,
        form: String,
        note: String,
        _ filters: [String],
        answer: String
    ) -> String {
        let isOfRoom = path.contains("{room}")
        let bearers = isOfRoom ? "operators, monitors, and tokens with can_admin streaming" : "operators and monitors"
        let names = (isOfRoom ? ["Room"] : []) + filters + ["IfNoneMatch"]
        let parameters = names.map { "        - $ref: '#/components/parameters/\($0)'" }.joined(separator: "\n")
        return """
              \(path)\(ending):
                get:
                  operationId: \(operation)\(form)
                  summary: \(summary)\(note).
                  description: For \(bearers).
                  parameters:
            \(parameters)
                  responses:
                    '200':
                      $ref: '#/components/responses/\(answer)'
                    '304':
                      $ref: '#/components/responses/Unchanged'
                    default:
                      $ref: '#/components/responses/Refusal'
            """
    }
}
