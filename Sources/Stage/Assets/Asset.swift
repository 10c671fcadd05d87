/// An image or audio file that was uploaded to a room for its mixer.
public struct Asset: Sendable, Hashable {
    /// The use of the file.
    public enum Kind: String, Sendable, Hashable, Codable {
        case image
        case sound
    }

    /// The maximum side of an image, in pixels.
    public static let longestSide = 4096

    /// The name in the room, `[A-Za-z0-9_.-]{1,64}`, not beginning with a dot.
    public var name: String
    /// The use of the file.
    public var kind: Kind
    /// The MIME type, such as `image/png`.
    public var contentType: String
    /// The size in bytes.
    public var size: Int
    /// A value that differs for every content ever stored under the name.
    public var version: String
    /// Seconds since 1970.
    public var storedAt: Double

    /// Creates a description.
    public init(name: String, kind: Kind, contentType: String, size: Int, version: String, storedAt: Double) {
        self.name = name
        self.kind = kind
        self.contentType = contentType
        self.size = size
        self.version = version
        self.storedAt = storedAt
    }
}

/// The location of an image or audio file: an uploaded asset of the room, or a URL.
///
/// The text is the id that mixers use: `asset:NAME`, or an `http://` or `https://` URL.
public struct AssetReference: Sendable, Hashable, Codable {
    /// The id.
    public let text: String

    /// The prefix of the id of an uploaded asset.
    public static let prefix = "asset:"
    /// The maximum length of a URL, in bytes.
    static let maximumURLLength = 2000

    /// Creates a reference to the room's asset with a name.
    public init(name: String) {
        text = Self.prefix + name
    }

    /// Parses an id; nil if the text is not one.
    public init?(_ text: String) {
        guard Self.isFile(text) || Self.isAddress(text) else { return nil }
        self.text = text
    }

    /// The name of the room's asset; nil for a URL.
    public var name: String? {
        text.hasPrefix(Self.prefix) ? String(text.dropFirst(Self.prefix.count)) : nil
    }

    private static func isFile(_ text: String) -> Bool {
        text.hasPrefix(prefix) && NameRule.checkFile(String(text.dropFirst(prefix.count))) == nil
    }

    /// Whether the text is a URL that can be fetched: with a host, without credentials, in visible ASCII.
    private static func isAddress(_ text: String) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: { text.lowercased().hasPrefix($0) }),
            text.utf8.count <= maximumURLLength, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return false }
        let authority = text.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return !authority.isEmpty && !authority.hasPrefix(":") && !authority.contains("@") && !authority.contains("\\")
    }
}

extension AssetReference {
    /// Parses an id of an API request.
    ///
    /// - Throws: 3073 naming the field.
    public init(_ text: String, field: String) throws(StageError) {
        guard let reference = AssetReference(text) else {
            throw .invalidParameter(field, "must be asset:NAME, or an address that begins with http:// or https://")
        }
        self = reference
    }
}

// Errors of asset uploads.

extension StageError {
    /// 404: the asset does not exist; the code is the HTTP status, because no source system defines one.
    public static let assetNotFound = StageError(
        code: 404,
        name: "AssetNotFoundError",
        message: "There is no such asset",
        cause: "The room has no asset of this name",
        solution: "List the room's assets",
        status: 404
    )
    /// 53004 with status 415: an unsupported format, whatever content type the request names.
    public static let assetFormatUnknown = StageError(
        code: 53004,
        name: "SignalingIncomingMessageInvalidError",
        message: "The file is of no format that is taken",
        cause: "Its first bytes are not those of png, jpeg, webp, gif, bmp, mp3, aac, wav, ogg or flac",
        solution: "Convert the file to one of these formats",
        status: 415
    )

    /// 53004 with status 413: the file exceeds the size limit of its kind.
    public static func assetTooLarge(_ limit: Int) -> StageError {
        StageError(
            code: 53004,
            name: "SignalingIncomingMessageInvalidError",
            message: "The file is too large, \(limit / 1_048_576) MiB is the most",
            cause: "Images are limited to 5 MiB and audio files to 20 MiB",
            solution: "Send a smaller file",
            status: 413
        )
    }

    /// 53004 with status 413: the image exceeds the maximum side.
    public static func imageTooLarge(width: Int, height: Int) -> StageError {
        StageError(
            code: 53004,
            name: "SignalingIncomingMessageInvalidError",
            message: "The image has \(width)x\(height) pixels, \(Asset.longestSide) on each side is the most",
            cause: "An image with a longer side is not drawn",
            solution: "Make the image smaller",
            status: 413
        )
    }

    /// 3073 with status 409: the room has the maximum number of assets.
    public static func tooManyAssets(_ limit: Int) -> StageError {
        StageError(
            code: 3073,
            name: "INVALID_PARAMETER",
            message: "A room has at most \(limit) assets",
            cause: "The room has as many assets as it can have",
            solution: "Remove an asset first",
            status: 409
        )
    }
}
