import TestSupport
import Testing

@testable import Stage

@Suite("Dominant speaker detection")
struct DominantSpeakerDetectorTests {
    @Test("a participant becomes dominant after 300 ms of voice, not sooner")
    func attack() {
        var simulation = SpeakerSimulation()
        simulation.play(["ann": "__###__"])
        // Voice from 0.2 to 0.5 s.
        #expect(simulation.changeLog == ["0.5 ann began"])
        #expect(simulation.speaking == ["0.5 ann+"])
    }

    @Test("a click or a cough is ignored")
    func clicks() {
        var simulation = SpeakerSimulation()
        simulation.play(["ann": "_#____##____#_____##____"])
        #expect(simulation.changeLog.isEmpty)
        #expect(simulation.speaking.isEmpty)
    }

    @Test("V25 without speech there is no dominant speaker after the hold")
    func silence() {
        var simulation = SpeakerSimulation()
        simulation.play(["ann": "_#####" + quiet(30), "ben": quiet(36)])
        // The last voice at 0.6 s, plus the hold of 2.5 s.
        #expect(simulation.changeLog == ["0.4 ann began", "3.1 nobody silence"])
        #expect(simulation.speaking == ["0.4 ann+", "1.0 ann-"])
    }

    @Test("an answer becomes dominant after 600 ms once the other is silent")
    func answer() {
        var simulation = SpeakerSimulation()
        simulation.play(["ann": loud(30) + quiet(20), "ben": quiet(32) + loud(18)])
        // Ann until 3.0; Ben from 3.2, 600 ms of voice at 3.8.
        #expect(simulation.changeLog == ["0.4 ann began", "3.8 ben took_over"])
    }

    @Test("A back-channel under 600 ms does not switch, not even in a pause", arguments: 1...5)
    func backChannel(tenths: Int) {
        var simulation = SpeakerSimulation()
        let pause = quiet(12)
        let word = quiet(4) + loud(tenths) + quiet(8 - tenths)
        simulation.play(["ann": loud(30) + pause + loud(20), "ben": quiet(30) + word + quiet(20)])
        #expect(simulation.changeLog == ["0.4 ann began"])
        #expect(simulation.speaking.contains("3.7 ben+") == (tenths >= 3))
    }

    @Test("Words that come one by one do not add up to an utterance")
    func wordsApart() {
        var simulation = SpeakerSimulation()
        let words = String(repeating: "##____", count: 4)
        simulation.play(["ann": loud(30) + quiet(24) + loud(5), "ben": quiet(30) + words + quiet(5)])
        #expect(simulation.changeLog == ["0.4 ann began"])
    }

    @Test("cross-talk keeps the dominant speaker, however loud and long the other is")
    func crossTalk() {
        var simulation = SpeakerSimulation(levels: ["ann": -30, "ben": -8])
        simulation.play(["ann": loud(120), "ben": quiet(10) + loud(110)])
        #expect(simulation.changeLog == ["0.4 ann began"])
        #expect(simulation.speaker.isSpeaking("ben"))
    }

    @Test("after cross-talk the other becomes dominant 600 ms after the first fell silent")
    func crossTalkEnds() {
        var simulation = SpeakerSimulation()
        simulation.play(["ann": loud(50) + quiet(20), "ben": quiet(20) + loud(50)])
        #expect(simulation.changeLog == ["0.4 ann began", "5.6 ben took_over"])
    }

    @Test("a breath in cross-talk keeps the dominant speaker")
    func breath() {
        var simulation = SpeakerSimulation()
        simulation.play(["ann": loud(40) + quiet(5) + loud(40), "ben": quiet(20) + loud(65)])
        #expect(simulation.changeLog == ["0.4 ann began"])
    }

    @Test("A choice stays for the hold, so that a quick exchange does not flicker")
    func quickExchange() {
        var simulation = SpeakerSimulation()
        let turn = loud(8) + quiet(8)
        let other = quiet(8) + loud(8)
        simulation.play(["ann": turn + turn + turn + turn, "ben": other + other + other + other])
        let times = simulation.changes.map(\.at)
        #expect(times.count >= 2)
        for (earlier, later) in zip(times, times.dropFirst()) {
            #expect(later - earlier >= 2.499)
        }
        #expect(!simulation.changeLog.contains { $0.hasSuffix("silence") })
    }

    @Test("of simultaneous speakers the loudest becomes dominant, deterministically for equals")
    func together() {
        var loudest = SpeakerSimulation(levels: ["ann": -30, "ben": -12])
        loudest.play(["ann": loud(5), "ben": loud(5)])
        #expect(loudest.changeLog == ["0.4 ben began"])
        var equal = SpeakerSimulation()
        equal.play(["zoe": loud(5), "ann": loud(5), "ben": loud(5)])
        #expect(equal.changeLog == ["0.4 ann began"])
    }

    @Test("D20 a leave clears the dominant speaker, and the next report selects another")
    func leaving() {
        var simulation = SpeakerSimulation()
        simulation.play(["ann": loud(30), "ben": loud(30)])
        #expect(simulation.changeLog == ["0.4 ann began"])
        simulation.remove("ann")
        #expect(simulation.speaker.dominant == nil)
        #expect(!simulation.speaker.isSpeaking("ann"))
        simulation.play(["ben": loud(5)])
        #expect(simulation.changeLog == ["0.4 ann began", "3.0 nobody left", "3.1 ben began"])
        #expect(simulation.speaker.order == ["ben"])
        #expect(simulation.speaker.remove("ann", at: 9).isEmpty)
    }

    @Test("D20 the speaking order has the latest last; speaking again moves to the end, silence keeps it")
    func order() {
        var simulation = SpeakerSimulation()
        simulation.play([
            "ann": loud(30) + quiet(60) + loud(30) + quiet(40),
            "ben": quiet(40) + loud(40) + quiet(80),
        ])
        #expect(
            simulation.changeLog == [
                "0.4 ann began", "4.6 ben took_over", "9.6 ann took_over", "14.5 nobody silence",
            ]
        )
        #expect(simulation.speaker.order == ["ben", "ann"])
    }

    @Test("a steady noise is no speech, and a voice above it is")
    func noise() {
        var simulation = SpeakerSimulation(levels: ["ann": -44])
        simulation.play(["ann": loud(100), "ben": quiet(100)])
        #expect(simulation.changeLog.isEmpty)
        // The voice is above the noise, whose level remains in the pauses.
        simulation.levels["ann"] = -24
        simulation.play(["ann": loud(10), "ben": quiet(10)])
        #expect(simulation.changeLog == ["10.3 ann began"])
    }

    @Test("a later noise counts as speech only until the estimate has adapted")
    func noiseSetsIn() {
        var simulation = SpeakerSimulation(levels: ["fan": -44])
        simulation.play(["fan": quiet(10) + loud(300), "ann": quiet(310)])
        #expect(simulation.speaker.dominant == nil)
        #expect(!simulation.speaker.isSpeaking("fan"))
        #expect(simulation.changeLog.first == "1.3 fan began")
        #expect(simulation.changeLog.last?.hasSuffix("nobody silence") ?? false)
    }

    @Test("A tone without a pause stays a speaker")
    func tone() {
        var simulation = SpeakerSimulation(levels: ["ann": -21])
        simulation.play(["ann": loud(600)])
        #expect(simulation.changeLog == ["0.4 ann began"])
        #expect(simulation.speaker.isSpeaking("ann"))
    }

    @Test("Whispering under the threshold is not speaking")
    func whisper() {
        var simulation = SpeakerSimulation(levels: ["ann": -52])
        simulation.play(["ann": quiet(5) + loud(50)])
        #expect(simulation.changeLog.isEmpty)
    }

    @Test("an inactive microphone ends speech at once")
    func mute() {
        var simulation = SpeakerSimulation()
        simulation.play(["ann": loud(10) + "..", "ben": quiet(12)])
        #expect(simulation.speaking == ["0.4 ann+", "1.1 ann-"])
        #expect(simulation.speaker.level(of: "ann") == nil)
        #expect(simulation.speaker.level(of: "ben") == AudioLevel.silence)
    }

    @Test("a muted participant never becomes dominant, and keeps its level without gain")
    func fadedOut() {
        var simulation = SpeakerSimulation(levels: ["ann": 0], gains: ["ann": -60])
        simulation.play(["ann": loud(40), "ben": quiet(20) + loud(20)])
        #expect(simulation.changeLog == ["2.3 ben began"])
        #expect(simulation.speaking == ["2.3 ben+"])
        #expect(simulation.speaker.level(of: "ann") == 0)
        #expect(simulation.speaker.order == ["ben"])
    }

    @Test("muting clears the dominant speaker at once, until an audible voice follows")
    func fadedOutDominantSpeaker() {
        var simulation = SpeakerSimulation()
        simulation.play(["ann": loud(10), "ben": quiet(10)])
        simulation.gains["ann"] = -60
        simulation.play(["ann": loud(20), "ben": quiet(10) + loud(10)])
        #expect(simulation.changeLog == ["0.4 ann began", "1.1 nobody faded", "2.3 ben began"])
        #expect(simulation.speaking == ["0.4 ann+", "1.1 ann-", "2.3 ben+"])
        #expect(simulation.speaker.order == ["ben"])
        simulation.gains["ann"] = 0
        simulation.play(["ann": loud(40), "ben": quiet(40)])
        #expect(simulation.speaker.dominant == "ann")
        #expect(simulation.speaker.order == ["ben", "ann"])
    }

    @Test("levels include the mix gain")
    func gains() {
        // Louder at the microphone, and quieter in the program.
        var together = SpeakerSimulation(levels: ["ann": -10, "ben": -22], gains: ["ann": -20, "ben": 6])
        together.play(["ann": loud(5), "ben": loud(5)])
        #expect(together.changeLog == ["0.4 ben began"])
        var attenuated = SpeakerSimulation(gains: ["ann": -40])
        attenuated.play(["ann": quiet(2) + loud(30)])
        #expect(attenuated.changeLog.isEmpty)
        var amplified = SpeakerSimulation(levels: ["ann": -52], gains: ["ann": 12])
        amplified.play(["ann": quiet(2) + loud(30)])
        #expect(amplified.changeLog == ["0.5 ann began"])
    }

    @Test("a raised gain does not turn noise into speech")
    func amplifiedNoise() {
        var simulation = SpeakerSimulation(levels: ["fan": -49], gains: ["fan": -6])
        simulation.play(["fan": loud(100)])
        simulation.gains["fan"] = 4
        simulation.play(["fan": loud(100)])
        #expect(simulation.changeLog.isEmpty)
    }

    @Test("without reports all are silent and there is no dominant speaker")
    func reportsStop() {
        var simulation = SpeakerSimulation()
        simulation.play(["ann": loud(20)])
        var actions: [DominantSpeakerDetector.Action] = []
        for second in 3...6 { actions += simulation.speaker.tick(at: SpeakerSimulation.origin + Double(second)) }
        #expect(
            actions == [
                .speaking("ann", false),
                .dominant(SpeakerChange(participantSID: nil, previousSID: "ann", reason: .silence)),
            ]
        )
    }

    @Test("handles levels out of range, constant time and duplicates")
    func oddReports() {
        #expect(AudioLevel(participantSID: "a", level: .nan).level == AudioLevel.silence)
        #expect(AudioLevel(participantSID: "a", level: 12).level == 0)
        #expect(AudioLevel(participantSID: "a", level: -.infinity).level == AudioLevel.silence)
        var speaker = DominantSpeakerDetector()
        for _ in 0..<100 {
            #expect(speaker.updateLevels([AudioLevel(participantSID: "a", level: -10)], at: 5).isEmpty)
        }
        let twice = [AudioLevel(participantSID: "a", level: -10), AudioLevel(participantSID: "a", level: nil)]
        _ = speaker.updateLevels(twice, at: 5.1)
        #expect(speaker.level(of: "a") == -10)
        #expect(speaker.updateLevels([AudioLevel(participantSID: "a", level: -10)], at: 4).isEmpty)
    }

    @Test(
        "for any levels each change names the previous speaker and a present one"
    )
    func invariants() {
        var chance = SeededGenerator(seed: 25)
        for _ in 0..<40 {
            var speaker = DominantSpeakerDetector()
            var present = Set(["a", "b", "c", "d"])
            var dominant: String?
            var lastChange = -10.0
            for step in 1...600 {
                let now = Double(step) / 10
                var actions: [DominantSpeakerDetector.Action] = []
                if Int.random(in: 0..<100, using: &chance) == 0,
                    let gone = present.sorted().randomElement(using: &chance)
                {
                    present.remove(gone)
                    actions = speaker.remove(gone, at: now)
                    #expect(speaker.dominant != gone)
                } else {
                    let levels = present.sorted().map { sid in
                        AudioLevel(
                            participantSID: sid,
                            level: step / 8 % 5 == sid.utf8.first.map { Int($0) % 5 } ? -20 : -90
                        )
                    }
                    actions = speaker.updateLevels(levels, at: now)
                }
                for case .dominant(let change) in actions {
                    #expect(change.previousSID == dominant)
                    #expect(change.participantSID != dominant)
                    if change.reason == .tookOver { #expect(now - lastChange >= 2.499) }
                    dominant = change.participantSID
                    lastChange = now
                    #expect(dominant.map(present.contains) ?? true)
                }
                #expect(speaker.dominant == dominant)
                #expect(Set(speaker.order).isSubset(of: present))
            }
        }
    }

    private func loud(_ tenths: Int) -> String { String(repeating: "#", count: tenths) }
    private func quiet(_ tenths: Int) -> String { String(repeating: "_", count: tenths) }
}

/// Simulates voices from scores, a character for every 100 ms: `#` voice, `_` silence, `.` no microphone.
struct SpeakerSimulation {
    /// The start time in seconds since 1970: large, as in a running gateway.
    static let origin = 1_790_000_000.0

    var speaker = DominantSpeakerDetector()
    /// The voice levels in dBFS; -20 by default.
    var levels: [String: Double] = [:]
    /// The mix gains in decibels; 0 by default.
    var gains: [String: Double] = [:]
    private(set) var changes: [(at: Double, change: SpeakerChange)] = []
    /// The starts (+) and ends (-) of speaking, with their times.
    private(set) var speaking: [String] = []
    private var tenths = 0

    init(levels: [String: Double] = [:], gains: [String: Double] = [:]) {
        self.levels = levels
        self.gains = gains
    }

    /// The changes as text.
    var changeLog: [String] {
        changes.map { "\(time($0.at)) \($0.change.participantSID ?? "nobody") \($0.change.reason.rawValue)" }
    }

    mutating func play(_ scores: [String: String]) {
        let length = scores.values.map(\.count).max() ?? 0
        let characters = scores.mapValues(Array.init)
        for place in 0..<length {
            let levelsNow = characters.keys.sorted().compactMap { sid -> AudioLevel? in
                guard let score = characters[sid], place < score.count else { return nil }
                let level: Double? =
                    switch score[place] {
                    case "#": levels[sid] ?? -20
                    case "_": AudioLevel.silence
                    default: nil
                    }
                return AudioLevel(participantSID: sid, level: level, gain: gains[sid] ?? 0)
            }
            tenths += 1
            record(speaker.updateLevels(levelsNow, at: Self.origin + Double(tenths) / 10))
        }
    }

    mutating func remove(_ sid: String) {
        record(speaker.remove(sid, at: Self.origin + Double(tenths) / 10))
    }

    private mutating func record(_ actions: [DominantSpeakerDetector.Action]) {
        let now = Double(tenths) / 10
        for action in actions {
            switch action {
            case .dominant(let change): changes.append((now, change))
            case .speaking(let sid, let begins): speaking.append("\(time(now)) \(sid)\(begins ? "+" : "-")")
            }
        }
    }

    private func time(_ seconds: Double) -> String {
        let tenths = Int((seconds * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
