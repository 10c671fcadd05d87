import HTTPTypes
import Hummingbird
import Logging
import Stage

/// Middleware that converts every thrown error into the API's error response.
struct ErrorResponseMiddleware: RouterMiddleware {
    typealias Context = BasicRequestContext

    /// The gateway's addresses, of which errors name the page that explains them.
    let addresses: @Sendable () -> PlaybackAddresses

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as MethodNotAllowed {
            var response = try answer(MethodNotAllowed.refusal, request)
            response.headers[.allow] = error.allowed
            return response
        } catch {
            return try answer(stageError(for: error, context), request)
        }
    }

    private func answer(_ error: StageError, _ request: Request) throws -> Response {
        try APIResponse.error(error, addresses().reached(by: request))
    }

    private func stageError(for error: any Error, _ context: Context) -> StageError {
        switch error {
        case let error as StageError: return error
        case let error as any HTTPResponseError where error.status == .notFound: return .unknownRoute
        case let error as any HTTPResponseError where error.status.kind == .clientError:
            return .malformed(error.status.reasonPhrase)
        default:
            // The error's text may contain client input; the type is sufficient.
            context.logger.error("control request failed", metadata: ["error": "\(type(of: error))"])
            return .internalError
        }
    }
}

/// The error for a method that a route does not have; the response lists those it has (RFC 9110 section 15.5.6).
struct MethodNotAllowed: Error {
    let allowed: String

    /// 405; the code is the HTTP status, because no source system defines one.
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
    /// Every method that the server parses (llhttp's `HTTP_METHOD_MAP`) except CONNECT, which it refuses itself.
    private static var methods: [HTTPRequest.Method] {
        let others = """
            ACL BIND CHECKOUT COPY LINK LOCK M-SEARCH MERGE MKACTIVITY MKCALENDAR MKCOL MOVE NOTIFY PROPFIND PROPPATCH \
            PURGE QUERY REBIND REPORT SEARCH SOURCE SUBSCRIBE TRACE UNBIND UNLINK UNLOCK UNSUBSCRIBE
            """
        return [.get, .head, .post, .put, .patch, .delete, .options]
            + others.split(separator: " ").compactMap { HTTPRequest.Method(rawValue: String($0)) }
    }

    /// Adds the responses to OPTIONS, which list a route's methods, and 405 responses for the methods that it does not
    /// have; to be called after all routes are added.
    func addMethodRoutes() {
        let routes = Dictionary(grouping: self.routes) { $0.path.description }
        for (_, sameAddress) in routes {
            guard let path = sameAddress.first?.path else { continue }
            let own = Set(sameAddress.map(\.method))
            // The router answers HEAD by the route for GET.
            let taken = own.union(own.contains(.get) ? [.head, .options] : [.options])
            let allowed = Self.methods.filter { taken.contains($0) }.map(\.rawValue).joined(separator: ", ")
            if !own.contains(.options) {
                on(path, method: .options) { _, _ -> Response in
                    Response(status: .noContent, headers: [.allow: allowed])
                }
            }
            for method in Self.methods where !taken.contains(method) {
                on(path, method: method) { _, _ -> Response in throw MethodNotAllowed(allowed: allowed) }
            }
        }
    }
}
