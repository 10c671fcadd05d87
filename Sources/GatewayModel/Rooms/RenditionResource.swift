/// The program once more in a smaller size.
///
/// In a request a name of a usual size (`1080p`, `720p`, `480p`, `360p`) says the rest.
public struct RenditionResource: Codable, Sendable, Hashable {
    /// Such as `720p`; it is played as `ROOM_720p`.
    public var name: String
    /// Pixels across, even, 160 to the program's.
    public var width: Int?
    /// Pixels down, even, 90 to the program's.
    public var height: Int?
    /// Pictures per second, the program's divided by a whole number; the program's when left out.
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
