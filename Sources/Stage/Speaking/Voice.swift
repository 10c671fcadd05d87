/// One participant's voice: told from the background noise, and put together to utterances.
struct Voice: Sendable, Equatable {
    /// The latest level in dBFS, before any gain; nil while no microphone is heard.
    private(set) var level: Double?
    /// The latest level as the audience has it, by which everything here is told.
    private(set) var heard: Double?
    private var gain = 0.0
    /// The estimate of the background noise, in dBFS.
    private(set) var floor: Double
    /// When the present utterance began; nil while silent.
    private(set) var began: Double?
    /// Seconds of voice in the present utterance, pauses left out.
    private(set) var voiced = 0.0
    /// When voice was last heard.
    private(set) var lastHeard: Double?
    private var lastReport: Double?
    /// Whether the present utterance is long enough to be one.
    private(set) var isSpeaking = false

    init(settings: SpeakerSettings) {
        floor = settings.threshold - settings.margin
    }

    /// Takes a level for the time since the one before.
    mutating func hear(_ latest: AudioLevel, at now: Double, settings: SpeakerSettings) {
        let elapsed = lastReport.map { now - $0 }
        let interval = min(max(elapsed ?? settings.longestInterval, 0), settings.longestInterval)
        let isFirst = lastReport == nil || self.level == nil
        lastReport = now
        (level, heard) = (latest.level, latest.heard)
        // A fader moves the noise along with the voice: what was noise before is none the more a voice afterwards.
        if latest.gain != gain {
            floor = bounded(floor + latest.gain - gain, settings)
            gain = latest.gain
        }
        guard let heard else {
            // Without a microphone there is nothing to wait for.
            endUtterance()
            return
        }
        let threshold = min(max(floor + settings.margin, settings.threshold), settings.highestThreshold)
        if heard >= threshold {
            if let lastHeard, began != nil, now - lastHeard > settings.gap + interval { endUtterance() }
            if began == nil { began = now - interval }
            // The first level of a microphone stands for no time that is known.
            if !isFirst { voiced += interval }
            lastHeard = now
            if voiced >= settings.attack - Self.slack { isSpeaking = true }
        } else {
            endIfSilent(at: now, settings: settings)
        }
        follow(heard, isFirst: isFirst, interval: interval, settings: settings)
    }

    /// Lets time go by without a level.
    mutating func wait(until now: Double, settings: SpeakerSettings) {
        endIfSilent(at: now, settings: settings)
    }

    /// Seconds since voice was last heard.
    func silence(at now: Double) -> Double {
        lastHeard.map { max(now - $0, 0) } ?? .infinity
    }

    /// The noise is the quietest of late: it falls at once and rises slowly, so that pauses between words show it.
    private mutating func follow(_ level: Double, isFirst: Bool, interval: Double, settings: SpeakerSettings) {
        floor = bounded(isFirst ? level : min(level, floor + settings.floorRise * interval), settings)
    }

    private func bounded(_ floor: Double, _ settings: SpeakerSettings) -> Double {
        min(max(floor, settings.threshold - settings.margin), settings.highestThreshold - settings.margin)
    }

    private mutating func endIfSilent(at now: Double, settings: SpeakerSettings) {
        if began != nil, silence(at: now) > settings.gap + Self.slack { endUtterance() }
    }

    /// What was said is over, and what follows begins anew.
    mutating func endUtterance() {
        began = nil
        voiced = 0
        isSpeaking = false
    }

    /// Sums of tenths are a little off.
    static let slack = 0.001
}
