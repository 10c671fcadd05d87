import HTTPTypes
import Hummingbird

/// Middleware that allows cross-origin requests from the listed origins only (Fetch standard, "CORS protocol").
///
/// Origins are compared byte by byte. Credentials such as cookies are not allowed: the API uses bearer tokens only.
struct CrossOriginMiddleware: RouterMiddleware {
    typealias Context = BasicRequestContext

    let allowedOrigins: Set<String>

    private static let methods = "GET, POST, PUT, PATCH, DELETE"
    private static let requestHeaders = "Authorization, Content-Type, If-None-Match, Last-Event-ID"
    private static let exposedHeaders = "ETag, Retry-After, X-Next-Page-Token"
    /// The time in seconds that a browser may cache a preflight response.
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
            response.headers[.accessControlExposeHeaders] = Self.exposedHeaders
        }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.vary] = "Origin"
        return response
    }
}
