/// Where a picture or sound is: a file that was put into the room, or an address on the web.
///
/// Its text is the id by which mixers know it: `asset:NAME`, or an `http://` or `https://` URL.
public struct AssetReference: Sendable, Hashable, Codable {
    /// The id.
    public let text: String

    /// What stands before the name of a file of the room.
    public static let prefix = "asset:"
    /// Longest address, in bytes.
    static let longestAddress = 2000

    /// The file of the room with a name.
    public init(name: String) {
        text = Self.prefix + name
    }

    /// Reads an id; nil for text that is none.
    public init?(_ text: String) {
        guard Self.isFile(text) || Self.isAddress(text) else { return nil }
        self.text = text
    }

    /// The name of the room's file; nil for an address.
    public var name: String? {
        text.hasPrefix(Self.prefix) ? String(text.dropFirst(Self.prefix.count)) : nil
    }

    private static func isFile(_ text: String) -> Bool {
        text.hasPrefix(prefix) && NameRule.check(String(text.dropFirst(prefix.count))) == nil
    }

    /// Whether it is an address that could be asked at all: with a host, without a password, in visible ASCII.
    private static func isAddress(_ text: String) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: { text.lowercased().hasPrefix($0) }),
            text.utf8.count <= longestAddress, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return false }
        let authority = text.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return !authority.isEmpty && !authority.hasPrefix(":") && !authority.contains("@") && !authority.contains("\\")
    }
}

extension AssetReference {
    /// Reads an id in the words of a rest of the stage's API.
    ///
    /// - Throws: 3073 naming the field.
    public init(_ text: String, field: String) throws(StageError) {
        guard let reference = AssetReference(text) else {
            throw .invalidParameter(field, "must be asset:NAME, or an address that begins with http:// or https://")
        }
        self = reference
    }
}
