import Foundation
import GatewayModel
import Hummingbird
import Stage

/// Revoking access tokens.
extension ControlRoutes {
    /// Seconds for which a token is remembered that is revoked by its id alone; none that we issue is good for longer.
    private static let longestLifetime = 3650.0 * 86_400

    func addTokens(to api: APIRoutes) {
        api.command(.post, "tokens/revoke") { call in
            try call.claims.requireOperator()
            let body = try await call.request.decode(RevokeTokenBody.self)
            let asked = try await entry(for: body, by: call.claims)
            // In force from here on, also where it cannot be written to disk.
            defer { if tokens.revocations.contains(asked.id) { audit.revoked(asked, by: call.claims) } }
            return try Reply.json(RevokedTokenResource(await tokens.revocations.revoke(asked)))
        }

        api.read("tokens/revoked") { call in
            try call.claims.requireOperator()
            // Ordered by time alone, for an id may be any text; two of the same microsecond are as good as never.
            let (entries, meta) = try PageRequest(call.request).page(of: tokens.revocations.all) {
                PageRequest.Mark(at: $0.revokedAt, sid: String($0.revokedAt.bitPattern, radix: 16))
            }
            return try Reply.json(RevokedTokenList(tokens: entries.map { RevokedTokenResource($0) }, meta: meta))
        }

        api.command(.delete, "tokens/revoked/:token") { call in
            try call.claims.requireOperator()
            try await tokens.revocations.restore(call.path("token"))
            return Response(status: .noContent)
        }
    }

    /// Whether the token of a request that is still being answered is good no more; asked again and again.
    func isRefused(_ call: Call) -> @Sendable () -> Bool {
        { [revocations = tokens.revocations, claims = call.claims] in revocations.isOver(claims) }
    }

    /// What is to be put on the list.
    ///
    /// - Throws: 3073 for a body that names no token, or one that is not good anyway.
    private func entry(
        for body: RevokeTokenBody,
        by bearer: AccessClaims
    ) async throws(StageError) -> RevokedToken {
        let now = Date().timeIntervalSince1970
        switch (body.jti, body.token) {
        case (let id?, nil):
            guard (1...AccessTokens.longestID).contains(id.utf8.count) else {
                throw .invalidParameter("jti", "must have 1 to \(AccessTokens.longestID) bytes")
            }
            let end = body.expiresAt?.seconds ?? now + Self.longestLifetime
            guard end > now, end <= now + Self.longestLifetime else {
                throw .invalidParameter("expires_at", "must be in the next ten years")
            }
            return RevokedToken(id: id, revokedAt: now, revokedBy: bearer.identity, expiresAt: end)
        case (nil, let token?):
            let claims: AccessClaims
            do {
                claims = try await tokens.claims(of: token)
            } catch {
                throw .invalidParameter("token", "must be a token of this gateway whose time is not over")
            }
            return RevokedToken(
                id: claims.tokenID ?? "",
                identity: claims.identity,
                role: claims.role.rawValue,
                revokedAt: now,
                revokedBy: bearer.identity,
                expiresAt: claims.expiresAt
            )
        case (nil, nil), (.some, .some):
            throw .invalidParameter("jti", "or token must be given, and not both")
        }
    }
}
