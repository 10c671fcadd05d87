import Crypto
import Foundation

/// The signing secret of an endpoint: `whsec_` and 24 to 64 bytes in base64 (Standard Webhooks 1.0).
public struct WebhookSecret: Sendable, Hashable {
    private static let prefix = "whsec_"

    /// The secret in the form that the receiver is given.
    public let text: String
    private let key: [UInt8]

    /// Parses a secret; nil if it is invalid.
    public init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), let key = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))),
            (24...64).contains(key.count)
        else { return nil }
        self.text = text
        self.key = [UInt8](key)
    }

    /// Creates a random secret of 32 bytes.
    public init() {
        var generator = SystemRandomNumberGenerator()
        key = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        text = Self.prefix + Data(key).base64EncodedString()
    }

    /// The masked form, shown after creation: the prefix and the last four characters.
    public var masked: String { Self.prefix + "****" + text.suffix(4) }

    /// Signs a message: `v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64.
    ///
    /// - Parameter timestamp: Seconds since 1970.
    public func sign(id: String, timestamp: Int64, body: [UInt8]) -> String {
        var code = HMAC<SHA256>(key: SymmetricKey(data: key))
        code.update(data: Array("\(id).\(timestamp).".utf8))
        code.update(data: body)
        return "v1," + Data(code.finalize()).base64EncodedString()
    }
}

extension WebhookSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The masked secret.
    public var description: String { masked }

    /// The masked secret.
    public var debugDescription: String { masked }

    /// A mirror without the key, for `dump` and test failures.
    public var customMirror: Mirror { Mirror(self, children: ["masked": masked]) }
}
