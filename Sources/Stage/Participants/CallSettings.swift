/// The initial settings of a client: its devices and the limits of what it sends.
///
/// In a request nil leaves the choice to the gateway; in a response no value that the gateway decided is nil.
public struct CallSettings: Sendable, Hashable, Codable {
    /// The camera of a phone.
    public enum CameraPosition: String, Sendable, Hashable, Codable {
        case front
        case back
    }

    /// Whether the microphone is published; false drops an encoder's audio.
    public var isAudioOn: Bool?
    /// Whether the camera is published; false drops an encoder's video.
    public var isVideoOn: Bool?
    /// Whether audio is played on the loudspeaker.
    public var isSpeakerOn: Bool?
    /// Whether audio is played.
    public var isAudioOutputOn: Bool?
    /// The camera.
    public var cameraPosition: CameraPosition?
    /// Video and audio together, in kb/s.
    public var maximumBitrate: Int?
    /// Video width in pixels.
    public var width: Int?
    /// Video height in pixels.
    public var height: Int?

    /// Creates settings; omitted values are left to the gateway.
    public init(
        isAudioOn: Bool? = nil,
        isVideoOn: Bool? = nil,
        isSpeakerOn: Bool? = nil,
        isAudioOutputOn: Bool? = nil,
        cameraPosition: CameraPosition? = nil,
        maximumBitrate: Int? = nil,
        width: Int? = nil,
        height: Int? = nil
    ) {
        self.isAudioOn = isAudioOn
        self.isVideoOn = isVideoOn
        self.isSpeakerOn = isSpeakerOn
        self.isAudioOutputOn = isAudioOutputOn
        self.cameraPosition = cameraPosition
        self.maximumBitrate = maximumBitrate
        self.width = width
        self.height = height
    }

    /// Returns the settings with devices completed from `defaults`.
    public func filled(from defaults: CallSettings?) -> CallSettings {
        var settings = self
        settings.isAudioOn = isAudioOn ?? defaults?.isAudioOn
        settings.isVideoOn = isVideoOn ?? defaults?.isVideoOn
        settings.isSpeakerOn = isSpeakerOn ?? defaults?.isSpeakerOn
        settings.isAudioOutputOn = isAudioOutputOn ?? defaults?.isAudioOutputOn
        settings.cameraPosition = cameraPosition ?? defaults?.cameraPosition
        return settings
    }

    /// Returns the effective settings: requests within the gateway's limits, and omitted devices on.
    public func effective() -> CallSettings {
        CallSettings(
            isAudioOn: isAudioOn ?? true,
            isVideoOn: isVideoOn ?? true,
            isSpeakerOn: isSpeakerOn ?? true,
            isAudioOutputOn: isAudioOutputOn ?? true,
            cameraPosition: cameraPosition ?? .front,
            maximumBitrate: min(maximumBitrate ?? HostLimits.bitrate, HostLimits.bitrate),
            width: Self.side(width, at: 0, in: self),
            height: Self.side(height, at: 1, in: self)
        )
    }

    /// Validates the numbers.
    ///
    /// - Throws: 3073 naming the field.
    func validate() throws(StageError) {
        if let maximumBitrate {
            try StageError.check(maximumBitrate, in: 100...1_000_000, field: "connect_options.max_bitrate")
        }
        for (side, field) in [(width, "connect_options.width"), (height, "connect_options.height")] {
            guard let side else { continue }
            try StageError.check(side, in: 16...16_384, field: field)
            guard side % 2 == 0 else { throw .invalidParameter(field, "must be even") }
        }
    }

    /// Returns a side within the limit for the longer or the shorter side, whichever it is.
    private static func side(_ requested: Int?, at axis: Int, in settings: CallSettings) -> Int {
        let isPortrait = (settings.width ?? HostLimits.longerSide) < (settings.height ?? HostLimits.shorterSide)
        let limit = isPortrait == (axis == 1) ? HostLimits.longerSide : HostLimits.shorterSide
        return min(requested ?? limit, limit)
    }
}

/// The limits of what one host may send: those of ingest.
private enum HostLimits {
    /// Video and audio together, in kb/s.
    static let bitrate = 12_000
    /// The longer side of the video, in pixels.
    static let longerSide = 1920
    /// The shorter side of the video, in pixels.
    static let shorterSide = 1080
}
