import Synchronization

/// The audio mix settings of a room.
public struct RoomAudioSettings: Sendable, Hashable, Codable {
    /// The hosts whose speech ducks all others.
    public enum Duck: String, Sendable, Hashable, Codable, CaseIterable {
        /// None.
        case off
        /// Pinned hosts.
        case pinned
        /// Hosts with priority.
        case priority
        /// Pinned hosts and hosts with priority.
        case both
    }

    /// Whether loudness normalization is on.
    public var isLevelling: Bool
    /// The hosts whose speech ducks all others; by default those with priority, which no host has by default.
    public var duck: Duck
    /// The ducking gain in decibels, -30 to 0.
    public var duckDepth: Double
    /// The jitter buffer target of all hosts in milliseconds, 60 to 2000; nil for the program's.
    public var jitterTarget: Int?

    /// Creates settings; omitted values have their defaults.
    ///
    /// Values are validated by `validate(path:)` only.
    public init(isLevelling: Bool = true, duck: Duck = .priority, duckDepth: Double = -8, jitterTarget: Int? = nil) {
        self.isLevelling = isLevelling
        self.duck = duck
        self.duckDepth = duckDepth
        self.jitterTarget = jitterTarget
    }

    /// Validates the ducking gain and the target.
    ///
    /// - Parameter path: The prefix of the field's name in the request, with its dot.
    /// - Throws: 3073 naming `duck_db` or `jitter_target`.
    public func validate(path: String = "sound.") throws(StageError) {
        try StageError.check(duckDepth, in: -30...0, field: "\(path)duck_db")
        if let jitterTarget { try StageError.check(jitterTarget, in: 60...2000, field: "\(path)jitter_target") }
    }
}

extension KeyedDecodingContainer {
    /// Preferred by synthesized code: older records without the field have the defaults.
    func decode(_ type: RoomAudioSettings.Type, forKey key: Key) throws -> RoomAudioSettings {
        try decodeIfPresent(type, forKey: key) ?? RoomAudioSettings()
    }
}

/// The audio mix settings of one participant, as a host.
public struct ParticipantAudioSettings: Sendable, Hashable, Codable {
    /// The gain at which a participant is muted.
    static let silentGain = -60.0

    /// Decibels, -60 to 12.
    public var gain: Double
    /// Whether the participant's speech ducks the others.
    public var hasPriority: Bool
    /// Whether the participant is offered a mix-minus of the program.
    public var wantsReturn: Bool
    /// The jitter buffer target of the host in milliseconds, 60 to 2000; nil for the room's.
    public var jitterTarget: Int?

    /// Creates settings; omitted values have their defaults.
    ///
    /// Values are validated by `validate(path:)` only.
    public init(gain: Double = 0, hasPriority: Bool = false, wantsReturn: Bool = false, jitterTarget: Int? = nil) {
        self.gain = gain
        self.hasPriority = hasPriority
        self.wantsReturn = wantsReturn
        self.jitterTarget = jitterTarget
    }

    /// Validates the gain and the target.
    ///
    /// - Parameter path: The prefix of the field's name in the request, with its dot.
    /// - Throws: 3073 naming `gain_db` or `jitter_target`.
    public func validate(path: String = "") throws(StageError) {
        try StageError.check(gain, in: Self.silentGain...12, field: "\(path)gain_db")
        if let jitterTarget { try StageError.check(jitterTarget, in: 60...2000, field: "\(path)jitter_target") }
    }
}

extension KeyedDecodingContainer {
    /// Preferred by synthesized code: older records without the field have the defaults.
    func decode(_ type: ParticipantAudioSettings.Type, forKey key: Key) throws -> ParticipantAudioSettings {
        try decodeIfPresent(type, forKey: key) ?? ParticipantAudioSettings()
    }
}

/// The A/V sync of a host's media, as the mixer measures it.
public struct HostSync: Sendable, Hashable {
    /// The jitter buffer target in milliseconds.
    public var target: Double
    /// The offset of the host's clock in milliseconds, later than at its first packet.
    public var offset: Double
    /// The drift in parts per million by which the host's clock runs faster than the program's.
    public var drift: Double
    /// The buffered media in milliseconds.
    public var buffer: Double
    /// Late video and audio frames.
    public var late: Int
    /// Repeated video frames.
    public var duplicated: Int
    /// Dropped video and audio frames.
    public var dropped: Int

    /// Creates a measurement.
    public init(
        target: Double = 300,
        offset: Double,
        drift: Double,
        buffer: Double,
        late: Int,
        duplicated: Int,
        dropped: Int
    ) {
        self.target = target
        self.offset = offset
        self.drift = drift
        self.buffer = buffer
        self.late = late
        self.duplicated = duplicated
        self.dropped = dropped
    }
}

/// Audio mix settings, by command.
extension Room {
    /// Sets the room's audio mix settings.
    ///
    /// Events: `room.updated` when that is a change.
    ///
    /// - Throws: 53106, or 3073 naming the field.
    mutating func setSound(_ sound: RoomAudioSettings, at now: Double) throws(StageError) {
        guard status == .inProgress else { throw .roomNotFound }
        try sound.validate(path: "")
        guard sound != settings.sound else { return }
        settings.sound = sound
        emit(.roomUpdated(view), at: now)
    }

    /// Sets a participant's audio mix settings, for now or once it is a host.
    ///
    /// Events: `participant.updated` when that is a change; `dominant_speaker.changed` and `layout.changed` when the
    /// dominant speaker is muted.
    ///
    /// - Throws: 53106, 53204, or 3073 naming the field.
    mutating func setSound(
        of reference: String,
        _ sound: ParticipantAudioSettings,
        at now: Double
    ) throws(StageError) -> Participant {
        let index = try existing(reference)
        try sound.validate()
        guard sound != participants[index].sound else { return participants[index] }
        update(at: index) { $0.sound = sound }
        // Immediately, not with the next mixer report: the audience stops hearing the host now.
        let isFadedOut = sound.gain <= ParticipantAudioSettings.silentGain
        if isFadedOut { fadeOut(participants[index].sid, at: now) }
        emit(.participantUpdated(view(of: participants[index])), at: now)
        if isFadedOut { announceLayout(at: now) }
        return participants[index]
    }
}

/// Audio mix settings.
extension RoomDirectory {
    /// Changes some of a room's audio mix settings atomically.
    ///
    /// - Parameters:
    ///   - room: Unique name or sid.
    ///   - change: Called once with the current settings; its error is rethrown, and nothing changes.
    /// - Throws: 53106, or 3073 naming the field.
    @discardableResult
    public func setSound(
        room: String,
        _ change: (inout RoomAudioSettings) throws(StageError) -> Void
    ) throws(StageError) -> RoomAudioSettings {
        try self.change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                var sound = room.settings.sound
                try change(&sound)
                try room.setSound(sound, at: now)
                return sound
            }
        }
    }

    /// Changes some of a participant's audio mix settings atomically.
    ///
    /// - Parameters:
    ///   - room: Unique name or sid.
    ///   - participant: Sid or identity; the settings apply once the participant is a host.
    ///   - change: Called once with the current settings; its error is rethrown, and nothing changes.
    /// - Throws: 53106, 53204, or 3073 naming the field.
    @discardableResult
    public func setSound(
        room: String,
        participant: String,
        _ change: (inout ParticipantAudioSettings) throws(StageError) -> Void
    ) throws(StageError) -> ParticipantView {
        try self.change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                var sound = room.participants[try room.existing(participant)].sound
                try change(&sound)
                return room.view(of: try room.setSound(of: participant, sound, at: now))
            }
        }
    }
}
