/// Detects the dominant speaker from all audio levels, about ten times a second.
///
/// A participant speaks after 300 ms of voice above its own background noise. The first one that speaks becomes
/// dominant and stays so while it speaks, whatever others say. The dominant speaker changes only after it was silent
/// for 600 ms and another participant has spoken for 600 ms, so that breaths and back-channels have no effect, and not
/// within 2.5 s of the previous change. Without a successor, there is no dominant speaker after 2.5 s.
///
/// All levels include the mix gain: a muted participant neither speaks nor becomes dominant.
///
/// Pure rules: the time is passed in, in seconds on any scale that does not step back.
struct DominantSpeakerDetector: Sendable, Equatable {
    /// A result of a level or of elapsed time.
    enum Action: Sendable, Equatable {
        /// A participant started or stopped speaking.
        case speaking(String, Bool)
        case dominant(SpeakerChange)
    }

    /// The sid of the dominant speaker.
    private(set) var dominant: String?
    /// All former dominant speakers, the latest last, without those that left or were muted.
    private(set) var order: [String] = []
    private var activities: [String: VoiceActivity] = [:]
    private var changedAt: Double?

    func isSpeaking(_ sid: String) -> Bool {
        activities[sid]?.isSpeaking ?? false
    }

    /// Returns the latest level of a participant in dBFS, without gain; nil without an active microphone.
    func level(of sid: String) -> Double? {
        activities[sid]?.level
    }

    /// Updates the levels; an omitted participant is silent once its last level is too old.
    mutating func updateLevels(_ levels: [AudioLevel], at now: Double) -> [Action] {
        let before = speaking
        var named: Set<String> = []
        var lost: [Action] = []
        for level in levels where named.insert(level.participantSID).inserted {
            activities[level.participantSID, default: VoiceActivity()]
                .updateLevels(level, at: now)
            if level.isFadedOut { lost += fadeOut(level.participantSID, at: now) }
        }
        for sid in activities.keys where !named.contains(sid) {
            activities[sid]?.wait(until: now)
        }
        let after = speaking
        let changed = before.symmetricDifference(after).sorted()
        return changed.map { .speaking($0, after.contains($0)) } + lost + [choose(at: now)].compactMap(\.self)
    }

    /// Handles the muting of a participant, which ends its dominance at once.
    ///
    /// - Returns: The change of the dominant speaker; the end of speaking is implied.
    mutating func fadeOut(_ sid: String, at now: Double) -> [Action] {
        activities[sid]?.endUtterance()
        order.removeAll { $0 == sid }
        return dominant == sid ? [change(to: nil, .faded, at: now)] : []
    }

    /// Advances the time without levels.
    mutating func tick(at now: Double) -> [Action] {
        updateLevels([], at: now)
    }

    /// Removes a participant that left the room or the stage.
    mutating func remove(_ sid: String, at now: Double) -> [Action] {
        guard let gone = activities.removeValue(forKey: sid) else { return [] }
        order.removeAll { $0 == sid }
        var actions: [Action] = []
        if gone.isSpeaking { actions.append(.speaking(sid, false)) }
        if dominant == sid { actions.append(change(to: nil, .left, at: now)) }
        return actions
    }

    private var speaking: Set<String> {
        Set(activities.lazy.filter(\.value.isSpeaking).map(\.key))
    }

    private mutating func choose(at now: Double) -> Action? {
        guard let dominant else {
            return firstSpeaker(voiced: SpeakerSettings.attack).map { change(to: $0, .began, at: now) }
        }
        let tolerance = VoiceActivity.tolerance
        if let changedAt, now - changedAt < SpeakerSettings.hold - tolerance { return nil }
        let silence = activities[dominant]?.silence(at: now) ?? .infinity
        guard silence >= SpeakerSettings.takeover - tolerance else { return nil }
        let isOver = silence >= SpeakerSettings.hold - tolerance
        if let next = firstSpeaker(voiced: isOver ? SpeakerSettings.attack : SpeakerSettings.takeover) {
            return change(to: next, .tookOver, at: now)
        }
        return isOver ? change(to: nil, .silence, at: now) : nil
    }

    /// Returns the first of the participants that spoke for a time; of simultaneous ones, the loudest.
    private func firstSpeaker(voiced: Double) -> String? {
        let speaking = activities.filter { $0.key != dominant && $0.value.voiced >= voiced - VoiceActivity.tolerance }
        return speaking.min { one, other in
            let (began, otherBegan) = (one.value.began ?? .infinity, other.value.began ?? .infinity)
            if began != otherBegan { return began < otherBegan }
            let (level, otherLevel) = (one.value.programLevel ?? -.infinity, other.value.programLevel ?? -.infinity)
            return level != otherLevel ? level > otherLevel : one.key < other.key
        }?.key
    }

    private mutating func change(to sid: String?, _ reason: SpeakerChange.Reason, at now: Double) -> Action {
        let change = SpeakerChange(participantSID: sid, previousSID: dominant, reason: reason)
        dominant = sid
        changedAt = sid == nil ? nil : now
        if let sid {
            order.removeAll { $0 == sid }
            order.append(sid)
        }
        return .dominant(change)
    }
}

/// The voice activity of one participant: speech above the background noise, grouped into utterances.
struct VoiceActivity: Sendable, Equatable {
    /// The latest level in dBFS, without gain; nil without an active microphone.
    private(set) var level: Double?
    /// The latest level with gain; the basis of all decisions.
    private(set) var programLevel: Double?
    private var gain = 0.0
    /// The noise estimate, in dBFS.
    private(set) var noiseFloor: Double
    /// The start of the current utterance; nil while silent.
    private(set) var began: Double?
    /// Seconds of voice in the current utterance, without pauses.
    private(set) var voiced = 0.0
    /// The time of the last voice.
    private(set) var lastVoiceAt: Double?
    private var lastReport: Double?
    /// Whether the current utterance is long enough to count as speech.
    private(set) var isSpeaking = false

    init() {
        noiseFloor = SpeakerSettings.threshold - SpeakerSettings.margin
    }

    /// Updates the level for the time since the previous one.
    mutating func updateLevels(_ latest: AudioLevel, at now: Double) {
        let elapsed = lastReport.map { now - $0 }
        let interval = min(max(elapsed ?? SpeakerSettings.longestInterval, 0), SpeakerSettings.longestInterval)
        let isFirst = lastReport == nil || self.level == nil
        lastReport = now
        (level, programLevel) = (latest.level, latest.programLevel)
        // A change of gain shifts the noise along with the voice.
        if latest.gain != gain {
            noiseFloor = bounded(noiseFloor + latest.gain - gain)
            gain = latest.gain
        }
        guard let programLevel else {
            // An inactive microphone ends the utterance at once.
            endUtterance()
            return
        }
        let threshold = min(
            max(noiseFloor + SpeakerSettings.margin, SpeakerSettings.threshold),
            SpeakerSettings.highestThreshold
        )
        if programLevel >= threshold {
            if let lastVoiceAt, began != nil, now - lastVoiceAt > SpeakerSettings.gap + interval { endUtterance() }
            if began == nil { began = now - interval }
            // The first level of a microphone covers an unknown time.
            if !isFirst { voiced += interval }
            lastVoiceAt = now
            if voiced >= SpeakerSettings.attack - Self.tolerance { isSpeaking = true }
        } else {
            endIfSilent(at: now)
        }
        updateNoiseFloor(programLevel, isFirst: isFirst, interval: interval)
    }

    /// Advances the time without a level.
    mutating func wait(until now: Double) {
        endIfSilent(at: now)
    }

    /// Returns the seconds since the last voice.
    func silence(at now: Double) -> Double {
        lastVoiceAt.map { max(now - $0, 0) } ?? .infinity
    }

    /// Updates the noise estimate: it falls at once and rises slowly, so that pauses between words show the noise.
    private mutating func updateNoiseFloor(_ level: Double, isFirst: Bool, interval: Double) {
        noiseFloor = bounded(isFirst ? level : min(level, noiseFloor + SpeakerSettings.noiseFloorRise * interval))
    }

    private func bounded(_ noiseFloor: Double) -> Double {
        min(
            max(noiseFloor, SpeakerSettings.threshold - SpeakerSettings.margin),
            SpeakerSettings.highestThreshold - SpeakerSettings.margin
        )
    }

    private mutating func endIfSilent(at now: Double) {
        if began != nil, silence(at: now) > SpeakerSettings.gap + Self.tolerance { endUtterance() }
    }

    /// Ends the current utterance.
    mutating func endUtterance() {
        began = nil
        voiced = 0
        isSpeaking = false
    }

    /// The tolerance for rounding errors of summed times.
    static let tolerance = 0.001
}

/// The thresholds and times of speech detection and of changes of the dominant speaker.
private enum SpeakerSettings {
    /// The minimum level of speech, in dBFS.
    static let threshold = -50.0
    /// The level that always counts as speech, in dBFS, for any background noise.
    static let highestThreshold = -35.0
    /// The minimum level above the background noise, in decibels.
    static let margin = 10.0
    /// The maximum rise of the noise estimate, in decibels per second; it falls at once.
    static let noiseFloorRise = 1.0
    /// Seconds of voice until a participant speaks.
    static let attack = 0.3
    /// The maximum silence within one utterance, in seconds.
    static let gap = 0.3
    /// Seconds of voice, and of the other's silence, until the dominant speaker changes; less is a back-channel.
    static let takeover = 0.6
    /// The minimum time of dominance in seconds, also after the last speech without a successor.
    static let hold = 2.5
    /// The maximum time in seconds that one level stands for; without a newer level the participant is silent.
    static let longestInterval = 0.25
}

/// A change of the dominant speaker.
public struct SpeakerChange: Sendable, Hashable {
    /// The reason of the change, for logs.
    public enum Reason: String, Sendable, Hashable, Codable, CaseIterable {
        /// Without a dominant speaker, a participant started to speak.
        case began
        /// The previous one fell silent, and another participant went on speaking.
        case tookOver = "took_over"
        /// No participant spoke for a while.
        case silence
        /// The dominant speaker left the room or the stage.
        case left
        /// The dominant speaker was muted in the mix.
        case faded
    }

    /// The sid of the dominant speaker; nil without one.
    public var participantSID: String?
    /// The sid of the previous one; nil without one.
    public var previousSID: String?
    /// The reason of the change.
    public var reason: Reason
}

/// The audio level of one participant at a moment.
public struct AudioLevel: Sendable, Hashable {
    /// The level of silence, in dBFS.
    public static let silence = -127.0

    /// The participant's sid.
    public var participantSID: String
    /// In dBFS, -127 (silence) to 0; nil without an active microphone.
    public var level: Double?
    /// The mix gain in decibels.
    public var gain: Double

    /// Creates a level, clamped to its range.
    public init(participantSID: String, level: Double?, gain: Double = 0) {
        self.participantSID = participantSID
        self.gain = gain
        self.level = level.map { $0.isNaN ? Self.silence : min(max($0, Self.silence), 0) }
    }

    /// Whether the mix gain mutes the participant.
    var isFadedOut: Bool { gain <= ParticipantAudioSettings.silentGain }

    /// The level in the program, in dBFS; nil without an active microphone.
    var programLevel: Double? {
        level.map { isFadedOut ? Self.silence : max($0 + gain, Self.silence) }
    }
}

/// Speaking participants, and the dominant speaker.
extension Room {
    /// Updates the levels of hosts.
    ///
    /// Events: `participant.updated` when a participant starts or stops speaking, `dominant_speaker.changed`. A change
    /// of level alone causes no event.
    mutating func updateLevels(_ levels: [AudioLevel], at now: Double) {
        announce(speakers.updateLevels(levels, at: now), at: now)
    }

    /// Advances the time without levels.
    mutating func updateWithoutLevels(at now: Double) {
        announce(speakers.tick(at: now), at: now)
    }

    /// Removes the voice activity of a participant that leaves the room or the stage; the end of speaking is implied.
    ///
    /// Events: `dominant_speaker.changed`.
    mutating func stopSpeaking(_ sid: String, at now: Double) {
        let actions = speakers.remove(sid, at: now)
        announce(actions.filter { if case .dominant = $0 { true } else { false } }, at: now)
    }

    /// Handles the muting of a participant; the caller emits the participant's event.
    ///
    /// Events: `dominant_speaker.changed`.
    mutating func fadeOut(_ sid: String, at now: Double) {
        announce(speakers.fadeOut(sid, at: now), at: now)
    }

    private mutating func announce(_ actions: [DominantSpeakerDetector.Action], at now: Double) {
        for action in actions {
            switch action {
            case .speaking(let sid, _):
                guard let index = index(of: sid) else { continue }
                update(at: index) { _ in }
                emit(.participantUpdated(view(of: participants[index])), at: now)
            case .dominant(let change):
                // Both participants' views contain the dominance.
                for index in [change.previousSID, change.participantSID].compactMap({ $0.flatMap(index(of:)) }) {
                    update(at: index) { _ in }
                }
                emit(.dominantSpeakerChanged(change), at: now)
            }
        }
    }
}
