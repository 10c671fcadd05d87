import HTTPTypes
import Hummingbird
import Stage

/// The address is a route, but not for this method; answered with the methods it has (RFC 9110 section 15.5.6).
struct WrongMethod: Error {
    let allowed: String

    /// 405; the code is the HTTP status, as no source system has one for it.
    static let refusal = StageError(
        code: 405,
        name: "MethodNotAllowedError",
        message: "The address does not take this method",
        cause: "The address is part of the API, the method is not",
        solution: "Use one of the methods in the Allow header",
        status: 405
    )
}

extension Router {
    /// Every method that the server parses (llhttp's `HTTP_METHOD_MAP`) but CONNECT, which it refuses by itself.
    private static var methods: [HTTPRequest.Method] {
        let others = """
            ACL BIND CHECKOUT COPY LINK LOCK M-SEARCH MERGE MKACTIVITY MKCALENDAR MKCOL MOVE NOTIFY PROPFIND PROPPATCH \
            PURGE QUERY REBIND REPORT SEARCH SOURCE SUBSCRIBE TRACE UNBIND UNLINK UNLOCK UNSUBSCRIBE
            """
        return [.get, .head, .post, .put, .patch, .delete, .options]
            + others.split(separator: " ").compactMap { HTTPRequest.Method(rawValue: String($0)) }
    }

    /// Answers every method that a route does not have with 405 instead of 404; to be called after all routes are there.
    func refuseOtherMethods() {
        let routes = Dictionary(grouping: self.routes) { $0.path.description }
        for (_, sameAddress) in routes {
            guard let path = sameAddress.first?.path else { continue }
            let taken = Set(sameAddress.map(\.method))
            let allowed = Self.methods.filter { taken.contains($0) }.map(\.rawValue).joined(separator: ", ")
            for method in Self.methods where !taken.contains(method) {
                on(path, method: method) { _, _ -> Response in throw WrongMethod(allowed: allowed) }
            }
        }
    }
}
