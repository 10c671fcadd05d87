/// What a client begins with: its devices, and how much it would send at most.
///
/// In a request nil leaves the choice to the gateway; in an answer nothing is nil that the gateway has decided.
public struct CallSettings: Sendable, Hashable, Codable {
    /// Which camera of a phone.
    public enum CameraPosition: String, Sendable, Hashable, Codable {
        case front
        case back
    }

    /// The microphone is to be published; false keeps what an encoder sends of it off the air.
    public var isAudioOn: Bool?
    /// The camera is to be published; false keeps what an encoder sends of it off the air.
    public var isVideoOn: Bool?
    /// Sound comes from the loudspeaker.
    public var isSpeakerOn: Bool?
    /// Sound is played at all.
    public var isAudioOutputOn: Bool?
    /// Which camera.
    public var cameraPosition: CameraPosition?
    /// Picture and sound together, in kb/s.
    public var maximumBitrate: Int?
    /// Pixels of a picture's width.
    public var width: Int?
    /// Pixels of a picture's height.
    public var height: Int?

    /// Makes settings; what is not named is left to the gateway.
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

    /// These, and where they leave a device open what `defaults` say of it.
    public func filled(from defaults: CallSettings?) -> CallSettings {
        var settings = self
        settings.isAudioOn = isAudioOn ?? defaults?.isAudioOn
        settings.isVideoOn = isVideoOn ?? defaults?.isVideoOn
        settings.isSpeakerOn = isSpeakerOn ?? defaults?.isSpeakerOn
        settings.isAudioOutputOn = isAudioOutputOn ?? defaults?.isAudioOutputOn
        settings.cameraPosition = cameraPosition ?? defaults?.cameraPosition
        return settings
    }

    /// What really holds: wishes within the gateway's limits, and everything on where nobody said otherwise.
    public func effective(within limits: HostLimits = HostLimits()) -> CallSettings {
        CallSettings(
            isAudioOn: isAudioOn ?? true,
            isVideoOn: isVideoOn ?? true,
            isSpeakerOn: isSpeakerOn ?? true,
            isAudioOutputOn: isAudioOutputOn ?? true,
            cameraPosition: cameraPosition ?? .front,
            maximumBitrate: min(maximumBitrate ?? limits.bitrate, limits.bitrate),
            width: Self.side(width, at: 0, in: self, limits),
            height: Self.side(height, at: 1, in: self, limits)
        )
    }

    /// Checks what a number can be wrong about.
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

    /// A side within the limit for the longer or the shorter edge, whichever it is.
    private static func side(_ wanted: Int?, at axis: Int, in settings: CallSettings, _ limits: HostLimits) -> Int {
        let isPortrait = (settings.width ?? limits.longerSide) < (settings.height ?? limits.shorterSide)
        let limit = isPortrait == (axis == 1) ? limits.longerSide : limits.shorterSide
        return min(wanted ?? limit, limit)
    }
}
