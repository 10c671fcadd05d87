public import Stage

/// The encoding settings of a room's program.
///
/// In a request every field is optional; in a response all are present.
public struct ProgramResource: Codable, Sendable, Hashable {
    /// Canvas width in pixels, even, 160 to 1920.
    public var width: Int?
    /// Canvas height in pixels, even, 90 to 1920.
    public var height: Int?
    /// Frames per second, 1 to 60: `30`, `29.97`, or `"30000/1001"`.
    public var fps: Rate?
    /// Video kilobits per second, 10 to 10 000.
    public var videoBitrate: Int?
    /// Audio kilobits per second, 10 to 320.
    public var audioBitrate: Int?
    /// The x264 preset, `ultrafast` to `medium`; but `veryfast`, the default, searches less.
    public var preset: WireEnum<ProgramConfiguration.Preset>?
    /// The keyframe interval in seconds, 1 to 10.
    public var keyInterval: Int?
    /// The jitter buffer target of hosts in milliseconds, 60 to 2000.
    public var jitterTarget: Int?
    /// The renditions, the largest first; none when omitted.
    public var renditions: [RenditionResource]?
    /// Whether there is an audio-only rendition, `ROOM_audio`.
    public var audioOnly: Bool?

    /// Makes a description; what is left out is nil.
    public init(
        width: Int? = nil,
        height: Int? = nil,
        fps: Rate? = nil,
        videoBitrate: Int? = nil,
        audioBitrate: Int? = nil,
        preset: WireEnum<ProgramConfiguration.Preset>? = nil,
        keyInterval: Int? = nil,
        jitterTarget: Int? = nil
    ) {
        self.width = width
        self.height = height
        self.fps = fps
        self.videoBitrate = videoBitrate
        self.audioBitrate = audioBitrate
        self.preset = preset
        self.keyInterval = keyInterval
        self.jitterTarget = jitterTarget
    }

    private enum CodingKeys: String, CodingKey {
        case width
        case height
        case fps
        case videoBitrate = "video_bitrate"
        case audioBitrate = "audio_bitrate"
        case preset
        case keyInterval = "key_interval"
        case jitterTarget = "jitter_target"
        case renditions
        case audioOnly = "audio_only"
    }
}

/// A smaller encoding of the program.
///
/// In a request the name of a common size (`1080p`, `720p`, `480p`, `360p`) implies the other fields.
public struct RenditionResource: Codable, Sendable, Hashable {
    /// The name, such as `720p`; it is played as `ROOM_720p`.
    public var name: String
    /// The width in pixels, even, 160 to the program's.
    public var width: Int?
    /// The height in pixels, even, 90 to the program's.
    public var height: Int?
    /// Frames per second, the program's divided by an integer; the program's when omitted.
    public var fps: Rate?
    /// Video kilobits per second, 10 to 10 000.
    public var videoBitrate: Int?

    /// Makes a description; what is left out is nil.
    public init(name: String, width: Int? = nil, height: Int? = nil, fps: Rate? = nil, videoBitrate: Int? = nil) {
        self.name = name
        self.width = width
        self.height = height
        self.fps = fps
        self.videoBitrate = videoBitrate
    }

    private enum CodingKeys: String, CodingKey {
        case name
        case width
        case height
        case fps
        case videoBitrate = "video_bitrate"
    }
}

/// Frames per second as the API encodes them: a number where it is exact, else a fraction as text.
///
/// The consumer validates the text.
public struct Rate: Codable, Sendable, Hashable {
    /// The text, such as `30`, `29.97` or `30000/1001`.
    public var text: String

    /// Wraps a rate's text.
    public init(_ text: String) {
        self.text = text
    }

    /// Decodes a number or text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let whole = try? container.decode(Int.self) {
            text = String(whole)
        } else if let number = try? container.decode(Double.self) {
            text = String(number)
        } else {
            text = try container.decode(String.self)
        }
    }

    /// Encodes a number where the text is one, else the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let whole = Int(text) {
            try container.encode(whole)
        } else if let number = Double(text), String(number) == text {
            try container.encode(number)
        } else {
            try container.encode(text)
        }
    }
}
