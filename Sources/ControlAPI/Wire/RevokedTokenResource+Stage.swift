import GatewayModel
import Stage

extension RevokedTokenResource {
    init(_ token: RevokedToken) {
        self.init(
            jti: token.id,
            identity: token.identity,
            role: token.role,
            revokedAt: Timestamp(token.revokedAt),
            revokedBy: token.revokedBy,
            expiresAt: Timestamp(token.expiresAt)
        )
    }
}
