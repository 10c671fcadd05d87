/// An answer of the gateway's HTTP interface.
public struct GatewayReply: Sendable {
    /// The HTTP status.
    public var status: Int
    /// The header fields, names in lower case.
    public var headers: [String: String]
    /// The body as it came.
    public var text: String

    /// The body as JSON; `null` when it is not.
    public var json: JSONValue { (try? JSONValue(parsing: text)) ?? .null }
}
