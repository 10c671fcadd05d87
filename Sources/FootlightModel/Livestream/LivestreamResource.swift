public import Stage

/// A room's outputs.
public struct LivestreamResource: Codable, Sendable, Hashable {
    /// `LIVESTREAM_STARTING`, `LIVESTREAM_STARTED`, `LIVESTREAM_STOPPING` or `LIVESTREAM_STOPPED`.
    public var state: WireEnum<LivestreamStatus.State>
    /// The time when the first output connected; null before.
    @ExplicitNull public var startedAt: Timestamp?
    /// The reason for the end: `command`, `max_duration`, `idle`, `not_started`, `lost` or `room_ended`; null while
    /// running.
    @ExplicitNull public var endReason: WireEnum<LivestreamEndReason>?
    /// The outputs, in the given order.
    public var outputs: [OutputResource]
    /// The violations of the platforms' requirements; absent without any.
    public var warnings: [WarningResource]?

    /// Makes a livestream.
    public init(
        state: WireEnum<LivestreamStatus.State>,
        startedAt: Timestamp?,
        endReason: WireEnum<LivestreamEndReason>? = nil,
        outputs: [OutputResource]
    ) {
        self.state = state
        self.startedAt = startedAt
        self.endReason = endReason
        self.outputs = outputs
    }

    private enum CodingKeys: String, CodingKey {
        case state
        case startedAt = "started_at"
        case endReason = "end_reason"
        case outputs
        case warnings
    }
}

/// A warning about a livestream that goes on.
public struct WarningResource: Codable, Sendable, Hashable {
    /// The stable number.
    public var code: Int
    /// `output_interrupted`, `output_failed`, `output_on_spare`, `output_on_main`, `spare_unreachable`,
    /// `spare_reachable`, `output_slow`, `output_keeps_up`, `stream_unsuitable`, `stream_suitable`,
    /// `rendition_stopped`, `rendition_resumed`, `last_output`, `idle_soon` or `max_duration_soon`.
    public var reason: WireEnum<LivestreamWarning.Reason>
    /// The message for people.
    public var message: String
    /// The name of the output; null for a warning about the livestream.
    @ExplicitNull public var output: String?
    /// Seconds until the livestream stops; null if it goes on.
    @ExplicitNull public var secondsLeft: Int?

    /// Makes a warning.
    public init(
        code: Int,
        reason: WireEnum<LivestreamWarning.Reason>,
        message: String,
        output: String?,
        secondsLeft: Int?
    ) {
        self.code = code
        self.reason = reason
        self.message = message
        self.output = output
        self.secondsLeft = secondsLeft
    }

    private enum CodingKeys: String, CodingKey {
        case code
        case reason
        case message
        case output
        case secondsLeft = "seconds_left"
    }
}

/// A room's playlist for the audience.
public struct HLSResource: Codable, Sendable, Hashable {
    /// `HLS_STARTING`, `HLS_STARTED`, `HLS_PLAYABLE`, `HLS_STOPPING` or `HLS_STOPPED`.
    public var state: WireEnum<HLSState>
    /// The time when it became playable; null before.
    @ExplicitNull public var startedAt: Timestamp?
    /// The playback URL; null before it is playable.
    @ExplicitNull public var playbackHLSURL: String?

    /// Makes a state.
    public init(state: WireEnum<HLSState>, startedAt: Timestamp?, playbackHLSURL: String?) {
        self.state = state
        self.startedAt = startedAt
        self.playbackHLSURL = playbackHLSURL
    }

    private enum CodingKeys: String, CodingKey {
        case state
        case startedAt = "started_at"
        case playbackHLSURL = "playback_hls_url"
    }
}

/// The outputs and the playlist of the program: the response of `GET /v1/rooms/{room}/egress`.
public struct EgressResource: Codable, Sendable, Hashable {
    /// Whether an output or a playlist is active.
    public var broadcasting: Bool
    /// The outputs.
    public var livestream: LivestreamResource
    /// The playlist.
    public var hls: HLSResource

    /// Makes an answer.
    public init(broadcasting: Bool, livestream: LivestreamResource, hls: HLSResource) {
        self.broadcasting = broadcasting
        self.livestream = livestream
        self.hls = hls
    }
}
