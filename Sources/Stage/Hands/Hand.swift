/// A raised hand: somebody in the audience asks to speak.
public struct Hand: Sendable, Hashable, Codable {
    /// `HA` and 32 hexadecimal digits.
    public let sid: String
    /// The sid of the participant who asks.
    public let participantSID: String
    /// Who asks.
    public let identity: String
    /// Seconds since 1970.
    public let raisedAt: Double
    /// When it goes down by itself, in seconds since 1970.
    public let expiresAt: Double

    /// Seconds that a hand may stay up.
    public static let timeouts = 10...3600
    /// Seconds that it stays up unless something else is asked for.
    public static let usualTimeout = 300
}

/// What became of a raised hand.
public struct HandChange: Sendable, Hashable {
    /// What can become of one.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case raised
        /// Down without an answer.
        case lowered
        /// The participant may come on stage.
        case accepted
        case rejected
        /// Nobody answered in time.
        case expired
    }

    /// Why a hand is down without an answer.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// By the participant, or by one that runs the show.
        case lowered
        /// The participant left the room.
        case left
        /// The participant became a host, or accepted an invitation to be one.
        case onStage = "on_stage"
    }

    /// What happened.
    public var kind: Kind
    /// The hand.
    public var hand: Hand
    /// Why; nil unless it was lowered.
    public var reason: Reason?
}
