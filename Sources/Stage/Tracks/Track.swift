/// One track of a host.
public struct Track: Sendable, Hashable {
    /// `MT` and 32 hexadecimal digits.
    public let sid: String
    /// Which of the three tracks it is.
    public let name: TrackName
    /// Whether the mixer decodes its media.
    public var isSubscribed: Bool
    /// Whether the track is not muted.
    public var isEnabled: Bool
    /// Whether its media was ever decoded.
    public var hasPlayed: Bool
    /// Video width in pixels; nil for audio and while unknown.
    public var width: Int?
    /// Video height in pixels; nil for audio and while unknown.
    public var height: Int?
    /// Frames per second as the encoder reports; nil for audio and while unknown.
    public var frameRate: Double?
    /// The codec's usual name, such as `H.264`.
    public var codec: String?

    init(name: TrackName, isEnabled: Bool) {
        sid = StageIdentifier.make("MT")
        self.name = name
        isSubscribed = false
        self.isEnabled = isEnabled
        hasPlayed = false
    }

    /// Whether the track is subscribed and enabled; a track exists only while it is published.
    public var isOn: Bool { isSubscribed && isEnabled }

    /// Whether the media can be played at this moment.
    public var mediaState: MediaState {
        if !isEnabled { return .off }
        if isSubscribed { return .playable }
        return hasPlayed ? .interrupted : .loading
    }

    /// Applies the media description of the encoder.
    mutating func apply(_ media: PublishedMedia) {
        switch name.kind {
        case .audio:
            codec = media.audioCodec
        case .video:
            codec = media.videoCodec
            width = media.width
            height = media.height
            frameRate = media.frameRate
        }
    }
}

/// The tracks of a host, at most one of each.
public enum TrackName: String, Sendable, Hashable, Codable, CaseIterable {
    case mic
    case camera
    case screen

    /// Parses a name as clients write it; `microphone` means `mic`.
    ///
    /// - Throws: 53303 for invalid characters, 53301 for an unknown name.
    public init(wireName: String) throws(StageError) {
        if wireName == "microphone" {
            self = .mic
        } else if let name = TrackName(rawValue: wireName) {
            self = name
        } else if NameRule.check(wireName) == .wrongCharacters {
            throw .trackNameCharactersInvalid
        } else {
            throw .trackNameInvalid
        }
    }

    /// Whether the track is audio or video.
    public var kind: TrackKind { self == .mic ? .audio : .video }

    /// The source of the connection that carries the track.
    var source: PublishSource { self == .screen ? .screen : .camera }
}

/// The media kind of a track.
public enum TrackKind: String, Sendable, Hashable, Codable {
    case audio
    case video
}

/// Whether a track's media can be played at this moment.
public enum MediaState: String, Sendable, Hashable, Codable {
    case blocked
    case off
    case receivable
    case loading
    case playable
    /// Was playable; no media arrives now.
    case interrupted
}

/// The state of one track that a host or an operator requested through the API.
///
/// The preference outlives the encoder's connection: a muted host whose encoder reconnects stays muted.
public enum TrackPreference: Sendable, Hashable, Codable {
    /// No request: arriving media publishes the track, and the end of its connection unpublishes it.
    case automatic
    /// Published, muted or not, with or without media.
    case published(isEnabled: Bool)
    /// Unpublished: arriving media is dropped until the track is published again.
    case unpublished

    // The stored names of the cases.
    private enum CodingKeys: String, CodingKey {
        case automatic
        case published = "wanted"
        case unpublished = "withdrawn"
    }

    /// Whether media may go into the host's feed.
    var passesMedia: Bool {
        switch self {
        case .automatic, .published(isEnabled: true): true
        case .published(isEnabled: false), .unpublished: false
        }
    }
}

// Errors of tracks.

extension StageError {
    /// 53300: a command for a track that is not published.
    public static let trackNotFound = StageError(
        code: 53300,
        name: "TrackInvalidError",
        message: "There is no such Track",
        cause: "The participant does not publish a track of this name",
        solution: "Publish the track first",
        status: 404
    )
    /// 53301: not one of the three names.
    public static let trackNameInvalid = StageError(
        code: 53301,
        name: "TrackNameInvalidError",
        message: "Track name is invalid",
        cause: "A track is named mic, camera or screen",
        solution: "Use one of the three names",
        status: 400
    )
    /// 53303: characters that are not allowed in a track name.
    public static let trackNameCharactersInvalid = StageError(
        code: 53303,
        name: "TrackNameCharsInvalidError",
        message: "Track name contains invalid characters",
        cause: "The track's name has characters other than A-Z, a-z, 0-9, _ and -",
        solution: "Use mic, camera or screen",
        status: 400
    )
    /// 53203: more tracks than a participant may publish.
    ///
    /// A participant has one track of each of three names, so the gateway refuses a second one with 53304, and another
    /// name with 53301 or 53303. The code exists for clients that know it.
    public static let tooManyTracks = StageError(
        code: 53203,
        name: "ParticipantMaxTracksExceededError",
        message: "Participant publishes too many tracks",
        cause: "A participant publishes a microphone, a camera and a screen at most",
        solution: "Unpublish a track before the next one is published",
        status: 409
    )
    /// 53304: a second track of the same name.
    public static let trackNameDuplicated = StageError(
        code: 53304,
        name: "TrackNameIsDuplicatedError",
        message: "Track name is duplicated",
        cause: "The participant publishes a track of this name already",
        solution: "Enable the existing track, or unpublish it first",
        status: 409
    )
    /// 53305: a limit of the gateway or of a host is exceeded.
    ///
    /// - Parameter fault: The exceeded limit, as a sentence without its full stop.
    public static func trackCapacityReached(_ fault: String) -> StageError {
        StageError(
            code: 53305,
            name: "TrackServerTrackCapacityReachedError",
            message: fault,
            cause: "What is published is beyond a limit of the gateway or of the participant",
            solution: "Publish less, or try again later",
            status: 503,
            isRetryable: true,
            retryAfter: 10
        )
    }
}
