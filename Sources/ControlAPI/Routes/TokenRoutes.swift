import Foundation
import FootlightModel
import Hummingbird
import Stage

/// Routes that issue, list and revoke access tokens.
struct TokenRoutes: FeatureRoutes {
    let tokens: AccessTokens
    /// Lists the issued tokens; nil to list none.
    let issued: (any IssuedTokenStoring)?
    let audit: AuditLog

    /// The time in seconds for which a revocation by id alone is kept; no issued token is valid for longer.
    private static let maximumLifetime = 3650.0 * 86_400

    /// The time in seconds for which a token is valid if the request names none: an operator's and any other's.
    private static let usualLifetime = (operators: 90 * 86_400, others: 6 * 3600)

    func add(to api: APIRoutes) {
        api.command(.post, "tokens") { call in
            try call.claims.requireOperator()
            let claims = try Self.claims(of: try await call.decode(CreateTokenBody.self))
            let token = try await tokens.issue(claims)
            issued?.add(IssuedToken(claims, by: call.claims, at: Date().timeIntervalSince1970))
            var response = try APIResponse.json(
                TokenResource(
                    token: token,
                    jti: claims.tokenID ?? "",
                    identity: claims.identity,
                    role: .known(claims.role),
                    room: claims.room,
                    expiresAt: Timestamp(claims.expiresAt)
                ),
                status: .created
            )
            response.headers[.cacheControl] = "no-store"
            return response
        }

        api.read("tokens") { call in
            try call.claims.requireOperator()
            let page = try PageRequest(call.request)
            let (entries, meta) = page.page(of: try await listed()) {
                // The latest come first.
                PageRequest.Cursor(at: -$0.issuedAt, sid: $0.id)
            }
            let resources = entries.map { IssuedTokenResource($0, isRevoked: tokens.revocations.contains($0.id)) }
            return try APIResponse.json(IssuedTokenList(tokens: resources, meta: meta))
        }

        api.command(.post, "tokens/revoke") { call in
            try call.claims.requireOperator()
            let body = try await call.decode(RevokeTokenBody.self)
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

    /// Returns the issued tokens that have not expired.
    ///
    /// - Throws: 53006 if the list cannot be read.
    private func listed() async throws(StageError) -> [IssuedToken] {
        guard let issued else { return [] }
        do {
            return try await issued.issued(after: Date().timeIntervalSince1970)
        } catch {
            throw .serverBusy(retryAfter: 5)
        }
    }

    /// Returns the claims of a new token.
    ///
    /// - Throws: 3073 naming the field, 3067 for an unknown mode.
    private static func claims(of body: CreateTokenBody) throws(StageError) -> AccessClaims {
        let role = try body.role.known(in: "role")
        guard role != .mixer else { throw .invalidParameter("role", "must not be mixer") }
        guard NameRule.check(body.identity) == nil else {
            throw .invalidParameter("identity", "must have 1 to 64 characters of A-Z, a-z, 0-9, _ and -")
        }
        // No room has another name, and the list of tokens holds only names.
        if let room = body.room, NameRule.check(room) != nil {
            throw .invalidParameter("room", "must be the unique name or the sid of a room")
        }
        var modes: [ParticipantMode] = []
        for name in body.modes ?? [] { modes.append(try ParticipantMode.named(name)) }
        if role == .participant {
            guard body.room != nil else { throw .invalidParameter("room", "must be given for a participant") }
            guard !modes.isEmpty else { throw .invalidParameter("modes", "must name at least one for a participant") }
        } else if role == .operator {
            guard body.room == nil else { throw .invalidParameter("room", "must be left out for an operator") }
        }
        let rights = Set(body.canAdmin ?? [])
        guard rights.isSubset(of: ["streaming", "participants"]) else {
            throw .invalidParameter("can_admin", "must be streaming or participants")
        }
        let usual = role == .operator ? usualLifetime.operators : usualLifetime.others
        let lifetime = body.expiresIn ?? usual
        try StageError.check(lifetime, in: 1...Int(maximumLifetime), field: "expires_in")
        return AccessClaims(
            identity: body.identity,
            role: role,
            room: body.room,
            modes: modes,
            administers: rights,
            expiresAt: (Date().timeIntervalSince1970 + Double(lifetime)).rounded(),
            tokenID: AccessTokens.makeID()
        )
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

extension IssuedToken {
    fileprivate init(_ claims: AccessClaims, by maker: AccessClaims, at time: Double) {
        self.init(
            id: claims.tokenID ?? "",
            identity: claims.identity,
            role: claims.role.rawValue,
            room: claims.room,
            issuedAt: time,
            issuedBy: maker.identity,
            expiresAt: claims.expiresAt
        )
    }
}

extension IssuedTokenResource {
    fileprivate init(_ token: IssuedToken, isRevoked: Bool) {
        self.init(
            jti: token.id,
            identity: token.identity,
            role: WireEnum(rawValue: token.role),
            room: token.room,
            issuedAt: Timestamp(token.issuedAt),
            issuedBy: token.issuedBy,
            expiresAt: Timestamp(token.expiresAt),
            revoked: isRevoked
        )
    }
}
