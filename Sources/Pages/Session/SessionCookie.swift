import HTTPTypes
import Hummingbird

/// The cookie that carries a session's secret (RFC 6265bis): no script reads it, and no other site's page sends it.
enum SessionCookie {
    static let name = "footlight_session"
    /// Its name where the browser came by TLS (RFC 6265bis 4.1.3.2).
    ///
    /// A browser takes one of this prefix by TLS alone and for this host alone: no neighbouring host, and nobody on the
    /// way, can give it one of theirs.
    static let secureName = "__Host-" + name

    /// The secret a request brings along; nil without one.
    ///
    /// Who came by TLS was given the name that others cannot; the plain one would be no proof there.
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

    /// The field that sets the cookie.
    ///
    /// - Parameter isSecure: The browser came by TLS, and is to send the cookie by no other way.
    static func setting(_ secret: String, isSecure: Bool) -> String {
        field(secret, seconds: Int(SessionBook.ageLimit), isSecure: isSecure)
    }

    /// The field that takes the cookie away.
    static func removing(isSecure: Bool) -> String {
        field("", seconds: 0, isSecure: isSecure)
    }

    private static func field(_ value: String, seconds: Int, isSecure: Bool) -> String {
        let name = isSecure ? secureName : name
        return "\(name)=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
    }
}
