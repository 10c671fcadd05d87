/// The description of this API in OpenAPI 3.1, served at `/v1/openapi.yaml`.
///
/// It is written beside the routes and the model; a test compares it with both.
enum OpenAPIDocument {
    /// The whole document, YAML.
    static let text = (paths + [parameters] + schemas).joined(separator: "\n") + "\n"

    private static let paths = [
        head, roomsPaths, participantsPaths, soundPaths, egressPaths, viewershipPaths, recordingsPaths, eventsPaths,
        webhooksPaths, tokensPaths,
    ]

    private static let schemas = [
        roomsSchemas, layoutSchemas, decorationSchemas, joiningSchemas, participantsSchemas, soundSchemas,
        egressSchemas, viewershipSchemas, summarySchemas, recordingsSchemas, eventsSchemas, webhooksSchemas,
        tokensSchemas,
    ]
}
