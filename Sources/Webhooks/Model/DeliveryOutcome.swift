/// What came of a try.
public struct DeliveryOutcome: Sendable, Hashable {
    /// The kinds of ends that a try can have, in the spelling of the wire.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// 2xx: the message was taken.
        case delivered
        /// Any other status.
        case refused
        /// 3xx; no redirect is ever followed.
        case redirect
        /// 410: the endpoint wants no more.
        case gone
        /// No whole answer within the time there is.
        case timeout
        /// The connection closed without an answer.
        case closed
        /// No connection.
        case unreachable
        /// The name has no address.
        case nameNotFound = "name_not_found"
        /// TLS failed: the certificate is not for this name, or not to be trusted.
        case tls
        /// The address is not one that may be posted to.
        case forbidden
    }

    /// The kind.
    public var kind: Kind
    /// The HTTP status; nil without an answer.
    public var status: Int?
    /// Seconds that the endpoint asks to wait before the next try; nil when it does not.
    public var retryAfter: Double?

    /// Describes the end of a try without an answer.
    public init(_ kind: Kind) {
        self.kind = kind
    }

    /// Describes an answer.
    public init(status: Int, retryAfter: Double? = nil) {
        switch status {
        case 200..<300: kind = .delivered
        case 300..<400: kind = .redirect
        case 410: kind = .gone
        default: kind = .refused
        }
        self.status = status
        self.retryAfter = retryAfter
    }

    /// Whether the endpoint is well and has something against this message: another one may fare better.
    var isAboutContent: Bool {
        switch status {
        case 400, 413, 415, 422: true
        default: false
        }
    }
}
