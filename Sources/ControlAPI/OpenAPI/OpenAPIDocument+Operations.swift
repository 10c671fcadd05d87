extension OpenAPIDocument {
    // What nearly every operation says; the first line stands where it is written, the others where they belong.

    /// The answer of an operation, besides that it may refuse.
    ///
    /// - Parameters:
    ///   - status: Of the answer.
    ///   - description: What it is.
    ///   - schema: The value of the model in it; nil for none.
    static func answers(_ status: String, _ description: String, _ schema: String? = nil) -> String {
        let content = schema.map { schema in
            """
                      content:
                        application/json:
                          schema:
                            $ref: '#/components/schemas/\(schema)'

            """
        }
        return """
            responses:
                    '\(status)':
                      description: \(description)
            \(content ?? "")        default:
                      $ref: '#/components/responses/Refusal'
            """
    }

    /// The value of the model that an operation takes.
    static func body(_ schema: String) -> String {
        """
        requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      $ref: '#/components/schemas/\(schema)'
        """
    }
}
