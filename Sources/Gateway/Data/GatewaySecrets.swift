import Foundation
import Viewership

/// The random secrets of a gateway, made at its first start and kept in its data folder.
struct GatewaySecrets: Sendable {
    /// Signs access tokens.
    let signingKey: [UInt8]
    /// Names the signing key in tokens; another one after each rotation.
    let signingKeyName: String
    /// Goes into the hash of every stream key.
    let pepper: [UInt8]
    /// Sign viewer session ids.
    let sessionKeys: SessionKeys

    init(_ directory: DataDirectory) throws {
        signingKeyName = try KeyRotation.currentName(in: directory)
        signingKey = try directory.secret("signing", for: [OperatorToken.fileName])
        pepper = try directory.secret("pepper", for: ["rooms.sqlite"])
        sessionKeys = try SessionKeyRing(directory).keys(at: Date())
    }
}
