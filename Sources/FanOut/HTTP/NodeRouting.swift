public import HTTPTypes

/// What the public ports need to know of the other gateways of a cluster; a gateway that runs alone has none.
public struct NodeRouting: Sendable {
    /// The sender of a request.
    public enum Sender: Sendable, Equatable {
        /// A client, or a server in front.
        case client
        /// Another gateway, which forwards the request of a client.
        case node(String, ClientOrigin)
        /// Somebody who pretends to be another gateway.
        case forged
    }

    /// Returns the sender of a request, by its signature.
    public var sender: @Sendable (_ request: HTTPRequest) -> Sender
    /// Whether another gateway has the room of a playback name.
    ///
    /// Called on event loops; must return at once.
    public var isElsewhere: @Sendable (_ playbackName: String) -> Bool

    /// Creates a routing.
    public init(
        sender: @escaping @Sendable (_ request: HTTPRequest) -> Sender,
        isElsewhere: @escaping @Sendable (_ playbackName: String) -> Bool
    ) {
        self.sender = sender
        self.isElsewhere = isElsewhere
    }
}

extension HTTPField.Name {
    // No client can set these fields for the server behind. The names are valid tokens, so the defaults are never used.

    /// The proof that another gateway of the cluster forwarded the request.
    public static let nodeSignature = Self("X-Footlight-Signature") ?? .via
    /// The client of a request, as `ClientOrigin.text`.
    public static let clientOrigin = Self("X-Footlight-Origin") ?? .via
    /// The name of the gateway that forwarded the request, once its signature was verified.
    public static let forwardingNode = Self("X-Footlight-Node") ?? .via
}
