import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Where an answer sends its request on to, and what goes along.
///
/// Systems differ in this: some turn a command into a question, some take the token to whatever host is named. Here a
/// command stays one (but for 303, RFC 9110 section 15.4.4), the token goes to the host it was meant for and to nobody
/// else, and nothing goes from HTTPS to HTTP.
enum Redirect {
    /// How many in a row are followed.
    static let most = 5

    private static let statuses: Set = [301, 302, 303, 307, 308]

    /// The next request; nil for an answer that is to be taken as it is.
    ///
    /// - Parameter location: The `Location` field, which may be relative (RFC 9110 section 10.2.2).
    static func next(after request: URLRequest, status: Int, location: String?) -> URLRequest? {
        guard statuses.contains(status), let location, let from = request.url,
            let to = URL(string: location, relativeTo: from)?.absoluteURL,
            let scheme = to.scheme?.lowercased(), ["http", "https"].contains(scheme), to.host() != nil,
            scheme == "https" || from.scheme?.lowercased() == "http"
        else { return nil }
        var next = request
        next.url = to
        if status == 303 {
            next.httpMethod = "GET"
            next.httpBody = nil
            next.setValue(nil, forHTTPHeaderField: "Content-Type")
        }
        if !isSameHost(from, to) { next.setValue(nil, forHTTPHeaderField: "Authorization") }
        return next
    }

    /// Whether both name one host and port; the step from HTTP to HTTPS leads from one port to another.
    private static func isSameHost(_ from: URL, _ to: URL) -> Bool {
        guard from.host()?.lowercased() == to.host()?.lowercased() else { return false }
        let isUpgrade = from.scheme?.lowercased() == "http" && to.scheme?.lowercased() == "https"
        return isUpgrade || port(of: from) == port(of: to)
    }

    private static func port(of url: URL) -> Int {
        url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80)
    }
}
