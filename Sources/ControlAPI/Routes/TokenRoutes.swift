import Foundation
import FootlightModel
import Hummingbird
import Stage

/// Routes that revoke access tokens.
struct TokenRoutes: FeatureRoutes {
    let tokens: AccessTokens
    let audit: AuditLog

    /// The time in seconds for which a revocation by id alone is kept; no issued token is valid for longer.
    private static let maximumLifetime = 3650.0 * 86_400

    func add(to api: APIRoutes) {
        api.command(.post, "tokens/revoke") { call in
            try call.claims.requireOperator()
            let body = try await call.request.decode(RevokeTokenBody.self)
            let asked = try await entry(for: body, by: call.claims)
            // In force from here on, even if the list cannot be written.
            defer { if tokens.revocations.contains(asked.id) { audit.revoked(asked, by: call.claims) } }
            return try APIResponse.json(RevokedTokenResource(await tokens.revocations.revoke(asked)))
        }

        api.read("tokens/revoked") { call in
            try call.claims.requireOperator()
            // Ordered by time only, because an id may be any text; equal microseconds are negligible.
            let (entries, meta) = try PageRequest(call.request).page(of: tokens.revocations.all) {
                PageRequest.Cursor(at: $0.revokedAt, sid: String($0.revokedAt.bitPattern, radix: 16))
            }
            return try APIResponse.json(RevokedTokenList(tokens: entries.map { RevokedTokenResource($0) }, meta: meta))
        }

        api.command(.delete, "tokens/revoked/:token") { call in
            try call.claims.requireOperator()
            try await tokens.revocations.restore(call.path("token"))
            return Response(status: .noContent)
        }
    }

    /// Returns the list entry for a request.
    ///
    /// - Throws: 3073 for a body that names no token, or a token that is not valid.
    private func entry(
        for body: RevokeTokenBody,
        by bearer: AccessClaims
    ) async throws(StageError) -> RevokedToken {
        let now = Date().timeIntervalSince1970
        switch (body.jti, body.token) {
        case (let id?, nil):
            guard (1...AccessTokens.maximumIDLength).contains(id.utf8.count) else {
                throw .invalidParameter("jti", "must have 1 to \(AccessTokens.maximumIDLength) bytes")
            }
            let end = body.expiresAt?.seconds ?? now + Self.maximumLifetime
            guard end > now, end <= now + Self.maximumLifetime else {
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

extension RevokedTokenResource {
    init(_ token: RevokedToken) {
        self.init(
            jti: token.id,
            identity: token.identity,
            role: token.role.map { WireEnum(rawValue: $0) },
            revokedAt: Timestamp(token.revokedAt),
            revokedBy: token.revokedBy,
            expiresAt: Timestamp(token.expiresAt)
        )
    }
}
