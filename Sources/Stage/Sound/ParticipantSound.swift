/// How one participant is mixed, as a host.
public struct ParticipantSound: Sendable, Hashable, Codable {
    /// The gain with which nothing is ever heard of somebody.
    static let silentGain = -60.0

    /// Decibels, -60 to 12.
    public var gain: Double
    /// The others may be turned down under the participant's speech.
    public var hasPriority: Bool
    /// The program is offered to the participant without its own sound.
    public var wantsReturn: Bool
    /// Milliseconds for which the host's media is held back to even out how it comes, 60 to 2000; nil is the room's.
    public var jitterTarget: Int?

    /// Makes settings; what is not named has its default.
    ///
    /// Nothing is checked before `validate(path:)`.
    public init(gain: Double = 0, hasPriority: Bool = false, wantsReturn: Bool = false, jitterTarget: Int? = nil) {
        self.gain = gain
        self.hasPriority = hasPriority
        self.wantsReturn = wantsReturn
        self.jitterTarget = jitterTarget
    }

    /// Checks the gain and the target.
    ///
    /// - Parameter path: What stands before the field's name in the request, with its dot.
    /// - Throws: 3073 naming `gain_db` or `jitter_target`.
    public func validate(path: String = "") throws(StageError) {
        try StageError.check(gain, in: Self.silentGain...12, field: "\(path)gain_db")
        if let jitterTarget { try StageError.check(jitterTarget, in: 60...2000, field: "\(path)jitter_target") }
    }
}

extension KeyedDecodingContainer {
    /// Chosen by synthesised code: records from before there was such a thing have the defaults.
    func decode(_ type: ParticipantSound.Type, forKey key: Key) throws -> ParticipantSound {
        try decodeIfPresent(type, forKey: key) ?? ParticipantSound()
    }
}
