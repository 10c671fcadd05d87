/// The renditions of a program.
///
/// One composition, several encodings: keyframes are aligned in all of them, and audio is encoded once.
public struct RenditionLadder: Sendable, Hashable, Codable {
    /// The name of the audio-only rendition.
    public static let audioName = "audio"
    /// The maximum number of video renditions.
    public static let most = 6

    /// The video renditions, the largest first.
    public var renditions: [Rendition]
    /// Whether there is an audio-only rendition.
    public var hasAudioOnly: Bool

    /// Creates a ladder without validation; see `validate(in:)`.
    public init(renditions: [Rendition] = [], hasAudioOnly: Bool = false) {
        self.renditions = renditions.sorted {
            // Unvalidated sizes may be any number.
            Double($0.width) * Double($0.height) > Double($1.width) * Double($1.height)
        }
        self.hasAudioOnly = hasAudioOnly
    }

    /// The names of all renditions.
    public var names: [String] { renditions.map(\.name) + (hasAudioOnly ? [Self.audioName] : []) }

    /// Validates every rendition against its program; names in errors are those of the control API.
    ///
    /// - Throws: 3073 with the field's name and its range.
    public func validate(in program: ProgramConfiguration) throws(StageError) {
        guard renditions.count <= Self.most else {
            throw .invalidParameter("program.renditions", "must be at most \(Self.most)")
        }
        var names: Set<String> = ["index", "media", Self.audioName]
        for rendition in renditions {
            let field = "program.renditions"
            let isWord = rendition.name.utf8.allSatisfy { NameRule.check(String(decoding: [$0], as: UTF8.self)) == nil }
            guard (1...16).contains(rendition.name.utf8.count), isWord, !rendition.name.contains("_") else {
                throw .invalidParameter("\(field).name", "must be 1 to 16 letters, digits or hyphens")
            }
            guard names.insert(rendition.name).inserted else {
                throw .invalidParameter("\(field).name", "must be unique, and not index, media or audio")
            }
            try StageError.check(rendition.width, in: 160...program.width, field: "\(field).width")
            try StageError.check(rendition.height, in: 90...program.height, field: "\(field).height")
            guard rendition.width % 2 == 0 else { throw .invalidParameter("\(field).width", "must be even") }
            guard rendition.height % 2 == 0 else { throw .invalidParameter("\(field).height", "must be even") }
            try StageError.check(rendition.videoBitrate, in: 10...10_000, field: "\(field).video_bitrate")
            guard let step = rendition.step(in: program), program.gopLength % step == 0 else {
                throw .invalidParameter("\(field).fps", "must be the program's rate divided by a whole number")
            }
        }
    }
}

/// A smaller encoding of the program, for viewers and outputs with less bandwidth.
public struct Rendition: Sendable, Hashable, Codable {
    /// The name, such as `720p`, unique within its program; `[A-Za-z0-9-]{1,16}`, because it is played as `ROOM_720p`.
    public var name: String
    /// The width in pixels, even, 160 to the program's.
    public var width: Int
    /// The height in pixels, even, 90 to the program's.
    public var height: Int
    /// Frames per second, the program's divided by an integer; nil for the program's.
    public var frameRate: FrameRate?
    /// Video bitrate in kb/s, 10 to 10 000.
    public var videoBitrate: Int

    /// Creates a rendition without validation; see `RenditionLadder.validate(in:)`.
    public init(name: String, width: Int, height: Int, frameRate: FrameRate? = nil, videoBitrate: Int) {
        self.name = name
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.videoBitrate = videoBitrate
    }

    /// Creates a rendition of a named size, in portrait for a portrait program.
    public init(_ quality: ProgramQuality, isPortrait: Bool = false) {
        self.init(
            name: quality.rawValue,
            width: isPortrait ? quality.height : quality.width,
            height: isPortrait ? quality.width : quality.height,
            videoBitrate: quality.videoBitrate
        )
    }

    /// Returns the ratio of the program's frame rate to the rendition's; nil if it is not an integer.
    public func step(in program: ProgramConfiguration) -> Int? {
        guard let frameRate else { return 1 }
        let (numerator, denominator) = (
            program.frameRate.numerator * frameRate.denominator, program.frameRate.denominator * frameRate.numerator
        )
        guard denominator > 0, numerator >= denominator, numerator % denominator == 0 else { return nil }
        return numerator / denominator
    }
}

/// The name of a rendition's feed: `ROOM.rendition.NAME`.
///
/// Room names contain no dot, so a feed name is never a room's. The playback name `ROOM_NAME` could be one.
public struct RenditionFeedName: Sendable, Hashable {
    /// The room's unique name.
    public let room: String
    /// Such as `720p`.
    public let rendition: String

    /// Creates the feed name of a room's rendition.
    public init(room: String, rendition: String) {
        self.room = room
        self.rendition = rendition
    }

    /// Parses a feed name; nil if it is not a rendition's.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1] == "rendition", !parts[0].isEmpty, !parts[2].isEmpty else { return nil }
        self.init(room: String(parts[0]), rendition: String(parts[2]))
    }

    /// Parses a playback name such as `show_720p`; nil without an underscore.
    public init?(played text: String) {
        guard let mark = text.lastIndex(of: "_"), mark != text.startIndex else { return nil }
        let rendition = text[text.index(after: mark)...]
        guard !rendition.isEmpty else { return nil }
        self.init(room: String(text[..<mark]), rendition: String(rendition))
    }

    /// The feed name.
    public var text: String { "\(room).rendition.\(rendition)" }

    /// The playback name.
    public var played: String { "\(room)_\(rendition)" }
}
