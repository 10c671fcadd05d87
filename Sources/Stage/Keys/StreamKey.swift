import Crypto

/// A host's secret for publishing: `sk_`, eight hexadecimal digits that name the key, `_`, and 32 random bytes in base64url.
struct StreamKey: Sendable, Equatable {
    /// Appended to a key, it publishes the host's screen.
    static let screenSuffix = ".screen"

    private static let prefix = "sk_"
    private static let identifierLength = 8
    private static let secretLength = 32

    /// The part that may be stored and logged.
    let identifier: String
    /// The whole key; never stored.
    let text: String

    /// A new random key.
    init() {
        var generator = SystemRandomNumberGenerator()
        identifier = StageIdentifier.hexadecimal(bytes: Self.identifierLength / 2, using: &generator)
        let secret = (0..<Self.secretLength).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        text = "\(Self.prefix)\(identifier)_\(Base64URL.encode(secret))"
    }

    /// Takes a presented key apart; nil when it has not the shape of one.
    ///
    /// Says nothing about its being known.
    init?(_ presented: String) {
        let bytes = Array(presented.utf8)
        let separator = Self.prefix.utf8.count + Self.identifierLength
        guard bytes.count == separator + 1 + 43, presented.hasPrefix(Self.prefix), bytes[separator] == UInt8(ascii: "_")
        else { return nil }
        identifier = String(decoding: bytes[Self.prefix.utf8.count..<separator], as: UTF8.self)
        text = presented
    }

    /// What is stored in the key's stead.
    ///
    /// The secret has 256 random bits, so a slow hash would add nothing.
    func digest(pepper: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: pepper)
        hash.update(data: Array(text.utf8))
        return Array(hash.finalize())
    }

    /// Compares without giving away by its duration where the first difference lies.
    static func isSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for index in left.indices {
            difference |= left[index] ^ right[index]
        }
        return difference == 0
    }
}
