import HTTPTypes
import Hummingbird
import Logging
import Stage

/// Middleware that converts every thrown error into the API's error response.
struct ErrorResponseMiddleware: RouterMiddleware {
    typealias Context = BasicRequestContext

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as StageError {
            return try APIResponse.error(error)
        } catch let error as MethodNotAllowed {
            var response = try APIResponse.error(MethodNotAllowed.refusal)
            response.headers[.allow] = error.allowed
            return response
        } catch let error as any HTTPResponseError where error.status == .notFound {
            return try APIResponse.error(.unknownRoute)
        } catch let error as any HTTPResponseError where error.status.kind == .clientError {
            return try APIResponse.error(.malformed(error.status.reasonPhrase))
        } catch {
            // The error's text may contain client input; the type is sufficient.
            context.logger.error("control request failed", metadata: ["error": "\(type(of: error))"])
            return try APIResponse.error(.internalError)
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

    /// Adds 405 responses for the methods that a route does not have; to be called after all routes are added.
    func addMethodNotAllowedRoutes() {
        let routes = Dictionary(grouping: self.routes) { $0.path.description }
        for (_, sameAddress) in routes {
            guard let path = sameAddress.first?.path else { continue }
            let taken = Set(sameAddress.map(\.method))
            let allowed = Self.methods.filter { taken.contains($0) }.map(\.rawValue).joined(separator: ", ")
            for method in Self.methods where !taken.contains(method) {
                on(path, method: method) { _, _ -> Response in throw MethodNotAllowed(allowed: allowed) }
            }
        }
    }
}
