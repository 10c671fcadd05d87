import HTTPTypes
import Hummingbird
import Logging
import Stage

/// Turns every refusal, whoever gave it, into the one shape that clients know.
struct RefusalMiddleware: RouterMiddleware {
    typealias Context = BasicRequestContext

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as StageError {
            return try Reply.error(error)
        } catch let error as WrongMethod {
            var response = try Reply.error(WrongMethod.refusal)
            response.headers[.allow] = error.allowed
            return response
        } catch let error as any HTTPResponseError where error.status == .notFound {
            return try Reply.error(.unknownRoute)
        } catch let error as any HTTPResponseError where error.status.kind == .clientError {
            return try Reply.error(.malformed(error.status.reasonPhrase))
        } catch {
            // The error's text may hold what a client sent; its type is enough to find it.
            context.logger.error("control request failed", metadata: ["error": "\(type(of: error))"])
            return try Reply.error(.internalFault)
        }
    }
}
