import HTTPTypes
import Hummingbird

/// The cookie with a session's secret (RFC 6265bis): scripts cannot read it, and other sites' pages do not send it.
enum SessionCookie {
    static let name = "footlight_session"
    /// The cookie's name for browsers that connected by TLS (RFC 6265bis section 4.1.3.2).
    ///
    /// A browser accepts this prefix only over TLS and only for this host, so that neither a neighbouring host nor an
    /// attacker on the network can set the cookie.
    static let secureName = "__Host-" + name

    /// Returns the secret in a request; nil if there is none.
    ///
    /// Over TLS only the prefixed name counts, because others could have set the plain one.
    static func secret(in request: Request) -> String? {
        value(of: secureName, in: request)
            ?? (RequestOrigin(request).isSecure ? nil : value(of: name, in: request))
    }

    private static func value(of name: String, in request: Request) -> String? {
        for field in request.headers[values: .cookie] {
            for pair in field.split(separator: ";") {
                let trimmed = pair.drop { $0 == " " }
                guard trimmed.hasPrefix(name + "=") else { continue }
                return String(trimmed.dropFirst(name.count + 1))
            }
        }
        return nil
    }

    /// Returns the `Set-Cookie` value that sets the cookie.
    ///
    /// - Parameter isSecure: Whether the browser connected by TLS, and is to send the cookie over TLS only.
    static func setting(_ secret: String, isSecure: Bool) -> String {
        field(secret, seconds: Int(SessionStore.ageLimit), isSecure: isSecure)
    }

    /// Returns the `Set-Cookie` value that removes the cookie.
    static func removing(isSecure: Bool) -> String {
        field("", seconds: 0, isSecure: isSecure)
    }

    private static func field(_ value: String, seconds: Int, isSecure: Bool) -> String {
        let name = isSecure ? secureName : name
        return "\(name)=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
    }
}

/// The origin of a browser's request, according to its header fields (Fetch standard; Fetch Metadata).
///
/// The cookie's `SameSite=Strict` excludes other sites. Another port of this host is the same site, however, so the
/// other header fields must prove the same origin.
struct RequestOrigin {
    private let request: Request

    init(_ request: Request) {
        self.request = request
    }

    /// Whether the request may use the cookie.
    ///
    /// A request that changes state needs the page's own header field, which neither a form nor a script of another
    /// origin can send.
    var isSameOrigin: Bool {
        if let site = request.headers[.secFetchSite], site != "same-origin", !(site == "none" && isReading) {
            return false
        }
        if let origin = request.headers[.origin] {
            guard let host = request.head.authority else { return false }
            guard origin == "http://\(host)" || origin == "https://\(host)" else { return false }
        }
        return isReading || request.headers[.footlightPage] != nil
    }

    /// Whether the browser connected by TLS, to the gateway or to a proxy in front of it.
    var isSecure: Bool {
        request.head.scheme == "https" || request.headers[.forwardedProto]?.lowercased() == "https"
    }

    private var isReading: Bool { request.method == .get || request.method == .head }
}

extension HTTPField.Name {
    /// The header field sent by the pages' scripts.
    static let footlightPage = Self("X-Footlight-Page") ?? .cookie
    static let secFetchSite = Self("Sec-Fetch-Site") ?? .origin
    static let forwardedProto = Self("X-Forwarded-Proto") ?? .origin
}
