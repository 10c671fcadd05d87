/// The floor went to somebody else, or nobody has it any more.
public struct SpeakerChange: Sendable, Hashable {
    /// Why it did; for the log.
    public enum Reason: String, Sendable, Hashable, Codable {
        /// Nobody had the floor, and somebody began to speak.
        case began
        /// The one before fell silent, and somebody else went on speaking.
        case tookOver = "took_over"
        /// Nobody has spoken for a while.
        case silence
        /// The one who had the floor left the room or the stage.
        case left
        /// The audience hears nothing any more of the one who had the floor, by the fader.
        case faded
    }

    /// The sid of the participant who has the floor now; nil for nobody.
    public var participantSID: String?
    /// The sid of the participant who had it before; nil for nobody.
    public var previousSID: String?
    /// Why it changed.
    public var reason: Reason
}
