import Foundation
import FootlightModel
import HTTPTypes
import Hummingbird
import NIOCore
import Stage

/// Adds the API's routes: every route verifies its token first, and every command is logged.
struct APIRoutes {
    typealias Handler = @Sendable (APICall) async throws -> Response

    let group: RouterGroup<BasicRequestContext>
    let tokens: AccessTokens
    let audit: AuditLog
    /// Whether bodies may have fields that the gateway does not know.
    let ignoresUnknownFields: Bool

    /// Adds a GET route; the router answers HEAD by it.
    func read(_ path: RouterPath, _ answer: @escaping Handler) {
        add(.get, path, by: { [tokens] in try await tokens.claims(of: $0) }, answer)
    }

    /// Adds a GET route for an event stream, for which browsers may have to put the token into the query.
    func stream(_ path: RouterPath, _ answer: @escaping Handler) {
        add(.get, path, by: { [tokens] in try await tokens.claims(ofStream: $0) }, answer)
    }

    /// Adds a POST route that is not written to the audit log, such as a heartbeat or a query with a body.
    func postUnaudited(_ path: RouterPath, _ answer: @escaping Handler) {
        add(.post, path, by: { [tokens] in try await tokens.claims(of: $0) }, answer)
    }

    /// Adds an unaudited POST route that also accepts the token as a password, for machines that cannot send a bearer
    /// token.
    func postFromMachine(_ path: RouterPath, _ answer: @escaping Handler) {
        add(.post, path, by: { [tokens] in try await tokens.claims(ofMachine: $0) }, answer)
    }

    private func add(
        _ method: HTTPRequest.Method,
        _ path: RouterPath,
        by identify: @escaping @Sendable (Request) async throws -> AccessClaims,
        _ answer: @escaping Handler
    ) {
        group.on(path, method: method) { [ignoresUnknownFields] request, context -> Response in
            let claims = try await identify(request)
            return try await answer(
                APICall(
                    request: request,
                    context: context,
                    claims: claims,
                    ignoresUnknownFields: ignoresUnknownFields
                )
            )
        }
    }

    /// Adds a route that changes state and is written to the audit log.
    func command(_ method: HTTPRequest.Method, _ path: RouterPath, _ answer: @escaping Handler) {
        group.on(path, method: method) { [tokens, audit, ignoresUnknownFields] request, context -> Response in
            var claims: AccessClaims?
            do {
                let found = try await tokens.claims(of: request)
                claims = found
                let call = APICall(
                    request: request,
                    context: context,
                    claims: found,
                    ignoresUnknownFields: ignoresUnknownFields
                )
                let response = try await answer(call)
                audit.record(request, context, by: claims, outcome: .done(response.status.code))
                return response
            } catch let error as StageError {
                audit.record(request, context, by: claims, outcome: .refused(error))
                throw error
            } catch {
                audit.record(request, context, by: claims, outcome: .failed(error))
                throw error
            }
        }
    }
}

extension AccessTokens {
    /// Verifies a request's bearer token.
    ///
    /// - Throws: 20101 without a token, and the errors of `verify`.
    fileprivate func claims(of request: Request) async throws(StageError) -> AccessClaims {
        guard let token = request.bearerToken else { throw .tokenInvalid }
        return try await verify(token)
    }

    /// Verifies a request's bearer token, or its basic-auth password with any user name (RFC 7617).
    fileprivate func claims(ofMachine request: Request) async throws(StageError) -> AccessClaims {
        guard let token = request.bearerToken ?? request.password else { throw .tokenInvalid }
        return try await verify(token)
    }

    /// Verifies a request's bearer token, or `access_token` in the query: a browser's `EventSource` sends no custom
    /// headers.
    ///
    /// URLs are written to logs and histories, so only a participant's short-lived token may stand in one.
    ///
    /// - Throws: 20106 for an operator's token in the query, and the errors of `claims(of:)`.
    fileprivate func claims(ofStream request: Request) async throws(StageError) -> AccessClaims {
        if request.bearerToken != nil { return try await claims(of: request) }
        guard let token = request.uri.queryParameters.get("access_token") else { throw .tokenInvalid }
        let claims = try await verify(token)
        guard claims.role != .operator else { throw .operatorTokenInURL }
        guard claims.role == .participant else { throw .tokenInvalid }
        return claims
    }
}

/// A request with a verified token.
struct APICall: Sendable {
    let request: Request
    let context: BasicRequestContext
    let claims: AccessClaims
    /// Whether the body may have fields that the gateway does not know.
    let ignoresUnknownFields: Bool

    /// Decodes the body as JSON.
    ///
    /// - Throws: 53004 naming the invalid field, or with status 413 for a body over the limit; 3073 naming a field that
    ///   the gateway does not know.
    func decode<Value: Codable>(_ type: Value.Type, whenEmpty: Value? = nil) async throws(StageError) -> Value {
        let buffer = try await request.read()
        if buffer.readableBytes == 0, let whenEmpty { return whenEmpty }
        let data = Data(buffer.readableBytesView)
        let value = try Request.decode(type, from: data)
        if !ignoresUnknownFields, let field = WireJSON.unknownField(in: data, of: value) {
            throw .invalidParameter(field, "is no field of this request")
        }
        return value
    }

    /// Returns a path parameter by name; empty if the route has none of that name.
    func path(_ name: String) -> String {
        context.parameters.get(name) ?? ""
    }

    /// Returns a query parameter by name; nil if it is missing.
    func query(_ name: String) -> String? {
        request.uri.queryParameters.get(name)
    }
}

/// Middleware that refuses requests without a mixer token.
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
