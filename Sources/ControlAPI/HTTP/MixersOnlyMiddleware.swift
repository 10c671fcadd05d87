import Hummingbird
import Stage

/// Refuses whoever does not show a mixer's token.
struct MixersOnlyMiddleware: RouterMiddleware {
    typealias Context = BasicRequestContext

    let tokens: AccessTokens

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let token = request.bearerToken else { throw StageError.tokenInvalid }
        guard try await tokens.verify(token).role == .mixer else { throw StageError.tokenGrantsInvalid }
        return try await next(request, context)
    }
}
