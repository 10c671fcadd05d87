import JWTKit

/// A token's payload as it is signed: the registered claims (RFC 7519 section 4.1) and ours under `footlight`.
struct TokenPayload: JWTPayload {
    struct Grants: Codable {
        struct Publishing: Codable {
            var sources: [String]?
            var maximumBitrate: Int?

            private enum CodingKeys: String, CodingKey {
                case sources
                case maximumBitrate = "max_kbps"
            }
        }

        var role: String?
        var room: String?
        var mode: String?
        var allowedModes: [String]?
        var administers: [String]?
        var epoch: UInt64?
        var publishing: Publishing?

        private enum CodingKeys: String, CodingKey {
            case role
            case room
            case mode
            case allowedModes = "allowed_modes"
            case administers = "can_admin"
            case epoch
            case publishing = "pub"
        }
    }

    var subject: String
    var audience: AudienceClaim
    var expiresAt: Double
    var notBefore: Double
    var issuedAt: Double?
    var tokenID: String?
    var footlight: Grants

    private enum CodingKeys: String, CodingKey {
        case subject = "sub"
        case audience = "aud"
        case expiresAt = "exp"
        case notBefore = "nbf"
        case issuedAt = "iat"
        case tokenID = "jti"
        case footlight
    }

    // The times are checked by `AccessTokens` against its own clock.
    func verify(using algorithm: some JWTAlgorithm) {}
}
