/// Who has the floor: told from everybody's levels, some ten times a second.
///
/// Somebody speaks after 300 ms of voice above their own background noise. The floor goes to whoever speaks first and
/// stays there while they speak, whatever the others say meanwhile. It changes hands only when the one who has it has
/// been silent for 600 ms and somebody else has spoken for 600 ms, so neither a breath nor an "mm-hm" moves the picture,
/// and never sooner than 2.5 s after the change before. When nobody follows, it is nobody's after 2.5 s.
///
/// All of it goes by what the audience hears, each level with its gain: whoever is faded out neither speaks nor has the
/// floor.
///
/// Pure rules: time is passed in, in seconds on any scale that does not step back.
struct DominantSpeaker: Sendable, Equatable {
    /// What follows from a level or from time.
    enum Action: Sendable, Equatable {
        /// A participant began or stopped to speak.
        case speaking(String, Bool)
        case dominant(SpeakerChange)
    }

    let settings: SpeakerSettings
    /// The sid of who has the floor.
    private(set) var dominant: String?
    /// Everybody who has had the floor, the latest last; those who left or were faded out are not in it.
    private(set) var order: [String] = []
    private var voices: [String: Voice] = [:]
    private var changedAt: Double?

    init(settings: SpeakerSettings = .init()) {
        self.settings = settings
    }

    func isSpeaking(_ sid: String) -> Bool {
        voices[sid]?.isSpeaking ?? false
    }

    /// The latest level of a participant in dBFS, before any gain; nil while no microphone is heard.
    func level(of sid: String) -> Double? {
        voices[sid]?.level
    }

    /// Takes levels; whoever is not named is silent once the last level is too old.
    mutating func hear(_ levels: [AudioLevel], at now: Double) -> [Action] {
        let before = speaking
        var named: Set<String> = []
        var lost: [Action] = []
        for level in levels where named.insert(level.participantSID).inserted {
            voices[level.participantSID, default: Voice(settings: settings)]
                .hear(level, at: now, settings: settings)
            if level.isFadedOut { lost += fadeOut(level.participantSID, at: now) }
        }
        for sid in voices.keys where !named.contains(sid) {
            voices[sid]?.wait(until: now, settings: settings)
        }
        let after = speaking
        let changed = before.symmetricDifference(after).sorted()
        return changed.map { .speaking($0, after.contains($0)) } + lost + [choose(at: now)].compactMap(\.self)
    }

    /// Somebody is not heard by the audience any more, so they lose the floor at once, though they go on speaking.
    ///
    /// - Returns: The change of the floor; that they do not speak any more goes without saying.
    mutating func fadeOut(_ sid: String, at now: Double) -> [Action] {
        voices[sid]?.endUtterance()
        order.removeAll { $0 == sid }
        return dominant == sid ? [change(to: nil, .faded, at: now)] : []
    }

    /// Lets time go by, for when no levels come.
    mutating func tick(at now: Double) -> [Action] {
        hear([], at: now)
    }

    /// Somebody left the room or the stage.
    mutating func remove(_ sid: String, at now: Double) -> [Action] {
        guard let gone = voices.removeValue(forKey: sid) else { return [] }
        order.removeAll { $0 == sid }
        var actions: [Action] = []
        if gone.isSpeaking { actions.append(.speaking(sid, false)) }
        if dominant == sid { actions.append(change(to: nil, .left, at: now)) }
        return actions
    }

    private var speaking: Set<String> {
        Set(voices.lazy.filter(\.value.isSpeaking).map(\.key))
    }

    private mutating func choose(at now: Double) -> Action? {
        guard let dominant else {
            return firstSpeaker(voiced: settings.attack).map { change(to: $0, .began, at: now) }
        }
        let slack = Voice.slack
        if let changedAt, now - changedAt < settings.hold - slack { return nil }
        let silence = voices[dominant]?.silence(at: now) ?? .infinity
        guard silence >= settings.takeover - slack else { return nil }
        let isOver = silence >= settings.hold - slack
        if let next = firstSpeaker(voiced: isOver ? settings.attack : settings.takeover) {
            return change(to: next, .tookOver, at: now)
        }
        return isOver ? change(to: nil, .silence, at: now) : nil
    }

    /// Who began first of those who have spoken for a time; of those who began together, the loudest.
    private func firstSpeaker(voiced: Double) -> String? {
        let speaking = voices.filter { $0.key != dominant && $0.value.voiced >= voiced - Voice.slack }
        return speaking.min { one, other in
            let (began, otherBegan) = (one.value.began ?? .infinity, other.value.began ?? .infinity)
            if began != otherBegan { return began < otherBegan }
            let (level, otherLevel) = (one.value.heard ?? -.infinity, other.value.heard ?? -.infinity)
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
