import Crypto
import Foundation

/// What an endpoint's messages are signed with: `whsec_` and 24 to 64 bytes in base64 (Standard Webhooks 1.0).
public struct WebhookSecret: Sendable, Hashable {
    private static let prefix = "whsec_"

    /// The secret as the receiver is given it.
    public let text: String
    private let key: [UInt8]

    /// Reads a secret; nil for anything else.
    public init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), let key = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))),
            (24...64).contains(key.count)
        else { return nil }
        self.text = text
        self.key = [UInt8](key)
    }

    /// Makes one of 32 random bytes.
    public init() {
        var generator = SystemRandomNumberGenerator()
        key = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        text = Self.prefix + Data(key).base64EncodedString()
    }

    /// As it is shown after the first time: the beginning, and the last four characters.
    public var masked: String { Self.prefix + "****" + text.suffix(4) }

    /// Signs what is sent; `v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64.
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
    /// Without the secret itself, wherever it is printed.
    public var description: String { masked }

    /// The same, without the secret itself.
    public var debugDescription: String { masked }

    /// What `dump` and test failures show: the key stays out of it.
    public var customMirror: Mirror { Mirror(self, children: ["masked": masked]) }
}
