import Crypto

/// A host's publishing secret: `sk_`, eight hexadecimal digits (the key's name), `_`, and 32 random bytes in base64url.
public struct StreamKey: Sendable, Equatable {
    /// The suffix of a key that publishes the host's screen.
    public static let screenSuffix = ".screen"

    private static let prefix = "sk_"
    private static let identifierLength = 8
    private static let secretLength = 32

    /// The part that may be stored and logged.
    public let identifier: String
    /// The whole key; never stored in clear.
    public let text: String

    /// Creates a random key.
    public init() {
        var generator = SystemRandomNumberGenerator()
        identifier = StageIdentifier.hexadecimal(bytes: Self.identifierLength / 2, using: &generator)
        let secret = (0..<Self.secretLength).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        text = "\(Self.prefix)\(identifier)_\(Base64URL.encode(secret))"
    }

    /// Parses a presented key; nil for a malformed one.
    ///
    /// A parsed key may be unknown.
    public init?(_ presented: String) {
        let bytes = Array(presented.utf8)
        let separator = Self.prefix.utf8.count + Self.identifierLength
        guard bytes.count == separator + 1 + 43, presented.hasPrefix(Self.prefix), bytes[separator] == UInt8(ascii: "_")
        else { return nil }
        identifier = String(decoding: bytes[Self.prefix.utf8.count..<separator], as: UTF8.self)
        text = presented
    }

    /// Returns the digest that is stored instead of the key.
    ///
    /// The secret has 256 random bits, so a slow hash would add nothing.
    func digest(pepper: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: pepper)
        hash.update(data: Array(text.utf8))
        return Array(hash.finalize())
    }

    /// Compares in constant time.
    public static func isEqualInConstantTime(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for index in left.indices {
            difference |= left[index] ^ right[index]
        }
        return difference == 0
    }
}

/// The stored part of a stream key, sufficient for verification but not for publishing.
public struct StreamKeyRecord: Sendable, Hashable, Codable {
    /// The key's name.
    public var identifier: String
    /// SHA-256 of pepper and key.
    public var digest: [UInt8]
    /// The sid of the key's owner.
    public var participantSID: String
}

/// The digests of the stream keys of all rooms, by the key's name.
struct StreamKeyring: Sendable {
    /// The owner of a key.
    struct Owner: Sendable, Equatable {
        let roomSID: String
        let participantSID: String
    }

    private struct Entry: Sendable {
        let digest: [UInt8]
        let owner: Owner
    }

    private let pepper: [UInt8]
    private var entries: [String: Entry] = [:]
    /// The digest for unknown key names, so that they take as long as a wrong secret.
    private let decoyDigest: [UInt8]

    init(pepper: [UInt8]) {
        self.pepper = pepper
        decoyDigest = StreamKey().digest(pepper: pepper)
    }

    var count: Int { entries.count }

    /// Creates a key for a host and stores its digest.
    mutating func issue(to owner: Owner) -> StreamKey {
        var key = StreamKey()
        while entries[key.identifier] != nil {
            key = StreamKey()
        }
        entries[key.identifier] = Entry(digest: key.digest(pepper: pepper), owner: owner)
        return key
    }

    /// Returns the owner of a presented key; nil for a wrong one.
    func owner(of presented: StreamKey) -> Owner? {
        let entry = entries[presented.identifier]
        let isValid = StreamKey.isEqualInConstantTime(presented.digest(pepper: pepper), entry?.digest ?? decoyDigest)
        return isValid ? entry?.owner : nil
    }

    /// Returns the storable keys of one room.
    func records(roomSID: String) -> [StreamKeyRecord] {
        let entries = entries.filter { $0.value.owner.roomSID == roomSID }
        let records = entries.map { identifier, entry in
            StreamKeyRecord(
                identifier: identifier,
                digest: entry.digest,
                participantSID: entry.owner.participantSID
            )
        }
        return records.sorted { $0.identifier < $1.identifier }
    }

    /// Restores a stored key, unless its name is in use.
    mutating func restore(_ record: StreamKeyRecord, roomSID: String) {
        guard entries[record.identifier] == nil else { return }
        let owner = Owner(roomSID: roomSID, participantSID: record.participantSID)
        entries[record.identifier] = Entry(digest: record.digest, owner: owner)
    }

    /// Revokes the keys of one participant.
    mutating func revoke(participantSID: String) {
        entries = entries.filter { $0.value.owner.participantSID != participantSID }
    }

    /// Revokes the keys of a room.
    mutating func revoke(roomSID: String) {
        entries = entries.filter { $0.value.owner.roomSID != roomSID }
    }
}

/// Base64url without padding (RFC 4648 section 5).
enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        var bits: UInt32 = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                text.append(alphabet[Int(bits >> UInt32(count) & 0x3F)])
            }
        }
        if count > 0 {
            text.append(alphabet[Int(bits << UInt32(6 - count) & 0x3F)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
