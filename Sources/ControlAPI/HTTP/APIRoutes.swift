import HTTPTypes
import Hummingbird
import Stage

/// The API's part of the router: every route checks its token first, and every command is written down.
struct APIRoutes {
    typealias Answer = @Sendable (Call) async throws -> Response

    let group: RouterGroup<BasicRequestContext>
    let tokens: AccessTokens
    let audit: AuditLog

    /// A route that changes nothing.
    func read(_ path: RouterPath, _ answer: @escaping Answer) {
        add(.get, path, by: { [tokens] in try await tokens.claims(of: $0) }, answer)
    }

    /// As `read`, for the head of the answer alone.
    func head(_ path: RouterPath, _ answer: @escaping Answer) {
        add(.head, path, by: { [tokens] in try await tokens.claims(of: $0) }, answer)
    }

    /// A stream of events, for which browsers may have to put the token into the address.
    func stream(_ path: RouterPath, _ answer: @escaping Answer) {
        add(.get, path, by: { [tokens] in try await tokens.claims(ofStream: $0) }, answer)
    }

    /// A sign of life, or a question with a body: nothing that is worth a line each time.
    func sign(_ path: RouterPath, _ answer: @escaping Answer) {
        add(.post, path, by: { [tokens] in try await tokens.claims(of: $0) }, answer)
    }

    /// As `sign`, for machines that may be able to show their token as a password only.
    func push(_ path: RouterPath, _ answer: @escaping Answer) {
        add(.post, path, by: { [tokens] in try await tokens.claims(ofMachine: $0) }, answer)
    }

    private func add(
        _ method: HTTPRequest.Method,
        _ path: RouterPath,
        by identify: @escaping @Sendable (Request) async throws -> AccessClaims,
        _ answer: @escaping Answer
    ) {
        group.on(path, method: method) { request, context -> Response in
            let claims = try await identify(request)
            return try await answer(Call(request: request, context: context, claims: claims))
        }
    }

    /// A route that changes something.
    func command(_ method: HTTPRequest.Method, _ path: RouterPath, _ answer: @escaping Answer) {
        group.on(path, method: method) { [tokens, audit] request, context -> Response in
            var claims: AccessClaims?
            do {
                let found = try await tokens.claims(of: request)
                claims = found
                let response = try await answer(Call(request: request, context: context, claims: found))
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
    /// The claims of a request's token.
    ///
    /// - Throws: 20101 without a token, and what `verify` throws.
    fileprivate func claims(of request: Request) async throws(StageError) -> AccessClaims {
        guard let token = request.bearerToken else { throw .tokenInvalid }
        return try await verify(token)
    }

    /// As `claims(of:)`, or by a password (RFC 7617), whoever's it is.
    fileprivate func claims(ofMachine request: Request) async throws(StageError) -> AccessClaims {
        guard let token = request.bearerToken ?? request.password else { throw .tokenInvalid }
        return try await verify(token)
    }

    /// As `claims(of:)`, or by `access_token` in the query: a browser's `EventSource` sends no headers of one's own.
    ///
    /// Addresses end up in logs and histories, so only a participant's short-lived token may stand in one.
    ///
    /// - Throws: 20106 for an operator's token in the query, besides what `claims(of:)` throws.
    fileprivate func claims(ofStream request: Request) async throws(StageError) -> AccessClaims {
        if request.bearerToken != nil { return try await claims(of: request) }
        guard let token = request.uri.queryParameters.get("access_token") else { throw .tokenInvalid }
        let claims = try await verify(token)
        guard claims.role != .operator else { throw .operatorTokenInURL }
        guard claims.role == .participant else { throw .tokenInvalid }
        return claims
    }
}
