import Foundation
public import Stage

/// What an access token says of its bearer.
///
/// Only the gateway can verify it: what is read here serves for defaults and times, never for permissions.
public struct TokenClaims: Sendable, Hashable, Decodable {
    /// The identity of the bearer; nil if the token names none.
    public let identity: String?
    /// The mode in which the bearer joins a room unless it asks for another; nil for bearers that are no participants.
    public let mode: ParticipantMode?
    let issuedAt: Double?
    let expiresAt: Double?

    /// Reads the claims of a token; nil for any text that is not a JWT (RFC 7519).
    public init?(_ token: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var payload = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
        payload += String(repeating: "=", count: (4 - payload.count % 4) % 4)
        guard let data = Data(base64Encoded: payload),
            let claims = try? JSONDecoder().decode(Self.self, from: data)
        else { return nil }
        self = claims
    }

    /// Decodes the payload of a token.
    public init(from decoder: any Decoder) throws {
        let payload = try decoder.container(keyedBy: CodingKeys.self)
        identity = try payload.decodeIfPresent(String.self, forKey: .identity)
        issuedAt = try payload.decodeIfPresent(Double.self, forKey: .issuedAt)
        expiresAt = try payload.decodeIfPresent(Double.self, forKey: .expiresAt)
        let grants = try payload.decodeIfPresent(Grants.self, forKey: .grants)
        mode = grants?.mode.flatMap { ParticipantMode(rawValue: $0) }
    }

    private struct Grants: Decodable {
        var mode: String?
    }

    private enum CodingKeys: String, CodingKey {
        case identity = "sub"
        case issuedAt = "iat"
        case expiresAt = "exp"
        case grants = "footlight"
    }
}
