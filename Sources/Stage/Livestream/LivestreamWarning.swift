/// Something an operator should know of a livestream that goes on.
public struct LivestreamWarning: Sendable, Hashable {
    /// The occasions for a warning, in the spelling of the wire.
    public enum Reason: String, Sendable, Hashable, Codable {
        /// An output lost its target and tries to reach it again.
        case outputInterrupted = "output_interrupted"
        /// An output is given up for now; the others go on.
        case outputFailed = "output_failed"
        /// An output lost its target and is now taken by its spare address.
        case outputOnSpare = "output_on_spare"
        /// An output is back at its first address.
        case outputOnMain = "output_on_main"
        /// An output's spare address, which nobody needs yet, cannot be reached.
        case spareUnreachable = "spare_unreachable"
        /// An output's spare address can be reached, again.
        case spareReachable = "spare_reachable"
        /// An output's target is too slow for the program, and pictures are dropped.
        case outputSlow = "output_slow"
        /// An output's target takes all of the program, again.
        case outputKeepsUp = "output_keeps_up"
        /// The stream is not what an output's platform asks for.
        case streamUnsuitable = "stream_unsuitable"
        /// The stream is what an output's platform asks for, again.
        case streamSuitable = "stream_suitable"
        /// The rendition that an output pushes is not made at present.
        case renditionStopped = "rendition_stopped"
        /// The rendition that an output pushes is made again.
        case renditionResumed = "rendition_resumed"
        /// The last output was to be removed, and stays.
        case lastOutput = "last_output"
        /// Nothing is to be heard or seen; the livestream will stop.
        case idleSoon = "idle_soon"
        /// The longest duration is nearly reached; the livestream will stop.
        case maximumDurationSoon = "max_duration_soon"
    }

    /// The occasion.
    public var reason: Reason
    /// The name of the output it is about; nil when it is about none.
    public var output: String?
    /// What happened, for people; free of secrets.
    public var message: String
    /// Seconds until the livestream stops by itself; nil when it does not.
    public var secondsLeft: Int?

    /// Makes a warning.
    public init(_ reason: Reason, output: String? = nil, message: String, secondsLeft: Int? = nil) {
        self.reason = reason
        self.output = output
        self.message = message
        self.secondsLeft = secondsLeft
    }

    /// The stable number nearest to the occasion: 4015 for the last output, else 5002.
    public var code: Int { reason == .lastOutput ? 4015 : 5002 }
}
