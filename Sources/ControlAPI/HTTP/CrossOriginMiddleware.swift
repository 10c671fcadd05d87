import HTTPTypes
import Hummingbird

/// Lets the pages of the listed origins ask from a browser (Fetch standard, "CORS protocol"), and no others.
///
/// An origin is compared as a whole and byte by byte. Cookies are never allowed along: the API knows bearer tokens only.
struct CrossOriginMiddleware: RouterMiddleware {
    typealias Context = BasicRequestContext

    let allowedOrigins: Set<String>

    private static let methods = "GET, POST, PUT, PATCH, DELETE"
    private static let requestHeaders = "Authorization, Content-Type, If-None-Match, Last-Event-ID"
    private static let answerHeaders = "ETag, Retry-After, X-Next-Page-Token"
    /// Seconds a browser may keep the answer to a preflight.
    private static let preflightAge = "600"

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard !allowedOrigins.isEmpty else { return try await next(request, context) }
        guard let origin = request.headers[.origin], allowedOrigins.contains(origin) else {
            var response = try await next(request, context)
            response.headers[.vary] = "Origin"
            return response
        }
        var response: Response
        if request.method == .options, request.headers[.accessControlRequestMethod] != nil {
            response = Response(status: .noContent)
            response.headers[.accessControlAllowMethods] = Self.methods
            response.headers[.accessControlAllowHeaders] = Self.requestHeaders
            response.headers[.accessControlMaxAge] = Self.preflightAge
        } else {
            response = try await next(request, context)
            response.headers[.accessControlExposeHeaders] = Self.answerHeaders
        }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.vary] = "Origin"
        return response
    }
}
