import HTTPTypes
import Hummingbird

/// Where a browser's request comes from, as far as the browser says so (Fetch standard; Fetch Metadata).
///
/// The cookie's `SameSite=Strict` keeps other sites out. Another port of this host is the same site, though, so a
/// request has to be of the same origin by what else is known of it.
struct RequestOrigin {
    private let request: Request

    init(_ request: Request) {
        self.request = request
    }

    /// Whether the request may go by the cookie.
    ///
    /// One that changes something needs the page's own header beside it: no form can send one, and no other origin's
    /// script may.
    var isOwn: Bool {
        if let site = request.headers[.secFetchSite], site != "same-origin", !(site == "none" && isReading) {
            return false
        }
        if let origin = request.headers[.origin] {
            guard let host = request.head.authority else { return false }
            guard origin == "http://\(host)" || origin == "https://\(host)" else { return false }
        }
        return isReading || request.headers[.footlightPage] != nil
    }

    /// Whether the browser came by TLS, which a proxy in front of us ended.
    var isSecure: Bool {
        request.headers[.forwardedProto]?.lowercased() == "https"
    }

    private var isReading: Bool { request.method == .get || request.method == .head }
}

extension HTTPField.Name {
    /// What the pages' scripts send along.
    static let footlightPage = Self("X-Footlight-Page") ?? .cookie
    static let secFetchSite = Self("Sec-Fetch-Site") ?? .origin
    static let forwardedProto = Self("X-Forwarded-Proto") ?? .origin
}
