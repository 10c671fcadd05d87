public import Media

/// The target of an output.
public struct OutputTarget: Sendable, Equatable {
    /// The operator's name for the output, unique within its room, `[A-Za-z0-9_-]{1,64}`.
    public var name: String
    /// `rtmp://` or `rtmps://`, host, optional port, application path; without the stream key.
    public var url: String
    /// The stream key; never shown or logged in clear.
    public var streamKey: String
    /// The rendition to push; nil for the program itself.
    public var rendition: String?
    /// The URL to push to when `url` fails; nil for none.
    public var backupURL: String?
    /// The stream key at the backup address; nil for the same key.
    public var backupStreamKey: String?
    /// The expected stream properties, to be checked against the platform's rules before the start; nil to check only
    /// the running stream.
    public var figures: StreamProperties?
    /// Whether only public addresses are permitted: the target was not set by an operator.
    public var mustBePublic = false

    /// Creates a target without validation.
    public init(name: String, url: String, streamKey: String) {
        self.name = name
        self.url = url
        self.streamKey = streamKey
    }
}

extension OutputTarget {
    /// Returns the name of the pushed feed: the room's program, or its rendition.
    ///
    /// A rendition has a feed name other than its playback name, because `show_720p` may also be the name of a room.
    public func feed(of room: String) -> String {
        rendition.map { RenditionFeedName(room: room, rendition: $0).text } ?? room
    }
}

/// The properties of a pushed stream, expected or measured; nil for unknown ones.
public struct StreamProperties: Sendable, Hashable {
    /// Width in pixels.
    public var width: Int?
    /// Height in pixels.
    public var height: Int?
    /// Frames per second.
    public var frameRate: Double?
    /// Video bitrate in kb/s.
    public var videoBitrate: Double?
    /// The video bitrate of the second with the highest one, in kb/s.
    public var peakVideoBitrate: Double?
    /// The maximum keyframe interval in seconds.
    public var keyInterval: Double?
    /// The video codec.
    public var videoCodec: VideoCodec?
    /// H.264's `profile_idc`: 66 Baseline, 77 Main, 100 High.
    public var profile: Int?
    /// H.264's `level_idc`: the level times ten.
    public var level: Int?
    /// Whether the codec configuration changed.
    public var hasChanged: Bool?
    /// The maximum duration of the stream in seconds.
    public var duration: Double?
    /// The maximum number of consecutive reordered frames (B-frames).
    public var reorderedFrames: Int?
    /// The audio codec.
    public var audioCodec: AudioCodec?
    /// The sample rate in hertz.
    public var sampleRate: Int?
    /// The number of audio channels.
    public var channels: Int?
    /// Audio bitrate in kb/s.
    public var audioBitrate: Double?

    /// Creates unknown properties.
    public init() {}

    /// Creates the expected properties of a program or one of its renditions.
    ///
    /// - Parameter rendition: A name on the program's ladder; the audio-only rendition has no video properties.
    public init(_ program: ProgramConfiguration, rendition name: String? = nil) {
        audioCodec = .aac
        sampleRate = 48_000
        channels = 2
        audioBitrate = Double(program.audioBitrate)
        let rendition = program.ladder?.renditions.first { $0.name == name }
        guard name == nil || rendition != nil else { return }
        width = rendition?.width ?? program.width
        height = rendition?.height ?? program.height
        frameRate = (rendition?.frameRate ?? program.frameRate).perSecond
        videoBitrate = Double(rendition?.videoBitrate ?? program.videoBitrate)
        keyInterval = Double(program.keyInterval)
        videoCodec = .h264
        profile = 77
        reorderedFrames = 0
    }
}

/// The program feeds of all rooms, for consumers such as the egress.
public protocol ProgramFeeding: Sendable {
    /// Sends a room's program to `sink` from now on: first the configuration and the current GOP, then new packets.
    /// Attaching before the program begins is permitted. Packets arrive on the feed's event loop.
    func attach(_ sink: any PacketSink, room: String)
    /// Ends what `attach` began; a packet in transit may still arrive.
    func detach(_ sink: any PacketSink, room: String)
}
