import Crypto
public import Foundation

/// Encrypts what the data folder must not hold in clear, such as stream keys (AES-GCM).
///
/// The key is derived from the gateway's secret, for one purpose each.
public struct DataSeal: Sendable {
    private let key: SymmetricKey

    /// Creates a seal.
    ///
    /// - Parameters:
    ///   - secret: The gateway's secret, the same after a restart.
    ///   - purpose: What is sealed; data of another purpose cannot be opened.
    public init(secret: [UInt8], purpose: String) {
        key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: secret),
            info: Data(purpose.utf8),
            outputByteCount: 32
        )
    }

    /// Encrypts and authenticates data.
    ///
    /// - Throws: The error of the cipher.
    public func seal(_ data: Data) throws -> Data {
        let box = try AES.GCM.seal(data, using: key)
        // There is a combined form, because the nonce has the usual size.
        return box.combined ?? box.nonce + box.ciphertext + box.tag
    }

    /// Decrypts data.
    ///
    /// - Throws: When it was changed, or sealed with another secret or for another purpose.
    public func open(_ sealed: Data) throws -> Data {
        try AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: key)
    }
}
