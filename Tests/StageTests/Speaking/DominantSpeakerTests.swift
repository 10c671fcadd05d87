import Testing

@testable import Stage

@Suite("Who has the floor")
struct DominantSpeakerTests {
    @Test("Somebody has the floor after 300 ms of voice, not sooner")
    func attack() {
        var trace = Trace()
        trace.play(["ann": "__###__"])
        // Voice from 0.2 to 0.5 s.
        #expect(trace.story == ["0.5 ann began"])
        #expect(trace.speaking == ["0.5 ann+"])
    }

    @Test("A click or a cough is nobody's floor")
    func clicks() {
        var trace = Trace()
        trace.play(["ann": "_#____##____#_____##____"])
        #expect(trace.story.isEmpty)
        #expect(trace.speaking.isEmpty)
    }

    @Test("V25 when nobody speaks, the floor is nobody's after the hold")
    func silence() {
        var trace = Trace()
        trace.play(["ann": "_#####" + quiet(30), "ben": quiet(36)])
        // Last heard at 0.6 s, kept for 2.5 s.
        #expect(trace.story == ["0.4 ann began", "3.1 nobody silence"])
        #expect(trace.speaking == ["0.4 ann+", "1.0 ann-"])
    }

    @Test("An answer takes the floor once the other is silent and it is more than a word")
    func answer() {
        var trace = Trace()
        trace.play(["ann": loud(30) + quiet(20), "ben": quiet(32) + loud(18)])
        // Ann until 3.0; Ben from 3.2, 600 ms of voice at 3.8.
        #expect(trace.story == ["0.4 ann began", "3.8 ben took_over"])
    }

    @Test("A back-channel under 600 ms does not switch, not even in a pause", arguments: 1...5)
    func backChannel(tenths: Int) {
        var trace = Trace()
        let pause = quiet(12)
        let word = quiet(4) + loud(tenths) + quiet(8 - tenths)
        trace.play(["ann": loud(30) + pause + loud(20), "ben": quiet(30) + word + quiet(20)])
        #expect(trace.story == ["0.4 ann began"])
        #expect(trace.speaking.contains("3.7 ben+") == (tenths >= 3))
    }

    @Test("Words that come one by one do not add up to an utterance")
    func wordsApart() {
        var trace = Trace()
        let words = String(repeating: "##____", count: 4)
        trace.play(["ann": loud(30) + quiet(24) + loud(5), "ben": quiet(30) + words + quiet(5)])
        #expect(trace.story == ["0.4 ann began"])
    }

    @Test("Cross-talk keeps the one who has the floor, however loud and long the other is")
    func crossTalk() {
        var trace = Trace(levels: ["ann": -30, "ben": -8])
        trace.play(["ann": loud(120), "ben": quiet(10) + loud(110)])
        #expect(trace.story == ["0.4 ann began"])
        #expect(trace.speaker.isSpeaking("ben"))
    }

    @Test("After cross-talk the floor goes to the other 600 ms after the first fell silent")
    func crossTalkEnds() {
        var trace = Trace()
        trace.play(["ann": loud(50) + quiet(20), "ben": quiet(20) + loud(50)])
        #expect(trace.story == ["0.4 ann began", "5.6 ben took_over"])
    }

    @Test("A breath in cross-talk does not cost the floor")
    func breath() {
        var trace = Trace()
        trace.play(["ann": loud(40) + quiet(5) + loud(40), "ben": quiet(20) + loud(65)])
        #expect(trace.story == ["0.4 ann began"])
    }

    @Test("A choice stays for the hold, so that a quick exchange does not flicker")
    func quickExchange() {
        var trace = Trace()
        let turn = loud(8) + quiet(8)
        let other = quiet(8) + loud(8)
        trace.play(["ann": turn + turn + turn + turn, "ben": other + other + other + other])
        let times = trace.changes.map(\.at)
        #expect(times.count >= 2)
        for (earlier, later) in zip(times, times.dropFirst()) {
            #expect(later - earlier >= 2.499)
        }
        #expect(!trace.story.contains { $0.hasSuffix("silence") })
    }

    @Test("Of several who begin together the loudest has the floor, and of equals always the same one")
    func together() {
        var loudest = Trace(levels: ["ann": -30, "ben": -12])
        loudest.play(["ann": loud(5), "ben": loud(5)])
        #expect(loudest.story == ["0.4 ben began"])
        var equal = Trace()
        equal.play(["zoe": loud(5), "ann": loud(5), "ben": loud(5)])
        #expect(equal.story == ["0.4 ann began"])
    }

    @Test("D20 whoever leaves has the floor no more; the next report gives it to who speaks")
    func leaving() {
        var trace = Trace()
        trace.play(["ann": loud(30), "ben": loud(30)])
        #expect(trace.story == ["0.4 ann began"])
        trace.remove("ann")
        #expect(trace.speaker.dominant == nil)
        #expect(!trace.speaker.isSpeaking("ann"))
        trace.play(["ben": loud(5)])
        #expect(trace.story == ["0.4 ann began", "3.0 nobody left", "3.1 ben began"])
        #expect(trace.speaker.order == ["ben"])
        #expect(trace.speaker.remove("ann", at: 9).isEmpty)
    }

    @Test("D20 the speaking order has the latest last; speaking again moves to the end, silence keeps it")
    func order() {
        var trace = Trace()
        trace.play([
            "ann": loud(30) + quiet(60) + loud(30) + quiet(40),
            "ben": quiet(40) + loud(40) + quiet(80),
        ])
        #expect(
            trace.story == [
                "0.4 ann began", "4.6 ben took_over", "9.6 ann took_over", "14.5 nobody silence",
            ]
        )
        #expect(trace.speaker.order == ["ben", "ann"])
    }

    @Test("A steady noise is no speaker, and a voice above it is")
    func noise() {
        var trace = Trace(levels: ["ann": -44])
        trace.play(["ann": loud(100), "ben": quiet(100)])
        #expect(trace.story.isEmpty)
        // The voice comes on top of the noise, whose level stays in the pauses.
        trace.levels["ann"] = -24
        trace.play(["ann": loud(10), "ben": quiet(10)])
        #expect(trace.story == ["10.3 ann began"])
    }

    @Test("A noise that sets in later is a speaker only until it is known as one")
    func noiseSetsIn() {
        var trace = Trace(levels: ["fan": -44])
        trace.play(["fan": quiet(10) + loud(300), "ann": quiet(310)])
        #expect(trace.speaker.dominant == nil)
        #expect(!trace.speaker.isSpeaking("fan"))
        #expect(trace.story.first == "1.3 fan began")
        #expect(trace.story.last?.hasSuffix("nobody silence") ?? false)
    }

    @Test("A tone without a pause stays a speaker")
    func tone() {
        var trace = Trace(levels: ["ann": -21])
        trace.play(["ann": loud(600)])
        #expect(trace.story == ["0.4 ann began"])
        #expect(trace.speaker.isSpeaking("ann"))
    }

    @Test("Whispering under the threshold is not speaking")
    func whisper() {
        var trace = Trace(levels: ["ann": -52])
        trace.play(["ann": quiet(5) + loud(50)])
        #expect(trace.story.isEmpty)
    }

    @Test("Without a microphone nobody speaks, at once")
    func mute() {
        var trace = Trace()
        trace.play(["ann": loud(10) + "..", "ben": quiet(12)])
        #expect(trace.speaking == ["0.4 ann+", "1.1 ann-"])
        #expect(trace.speaker.level(of: "ann") == nil)
        #expect(trace.speaker.level(of: "ben") == AudioLevel.silence)
    }

    @Test("Whoever is faded out never gets the floor, however loud, and keeps the level of before the gain")
    func fadedOut() {
        var trace = Trace(levels: ["ann": 0], gains: ["ann": -60])
        trace.play(["ann": loud(40), "ben": quiet(20) + loud(20)])
        #expect(trace.story == ["2.3 ben began"])
        #expect(trace.speaking == ["2.3 ben+"])
        #expect(trace.speaker.level(of: "ann") == 0)
        #expect(trace.speaker.order == ["ben"])
    }

    @Test("Faded out in the middle of a word, the floor is lost at once, and won again by a voice that is heard")
    func fadedOutWithTheFloor() {
        var trace = Trace()
        trace.play(["ann": loud(10), "ben": quiet(10)])
        trace.gains["ann"] = -60
        trace.play(["ann": loud(20), "ben": quiet(10) + loud(10)])
        #expect(trace.story == ["0.4 ann began", "1.1 nobody faded", "2.3 ben began"])
        #expect(trace.speaking == ["0.4 ann+", "1.1 ann-", "2.3 ben+"])
        #expect(trace.speaker.order == ["ben"])
        trace.gains["ann"] = 0
        trace.play(["ann": loud(40), "ben": quiet(40)])
        #expect(trace.speaker.dominant == "ann")
        #expect(trace.speaker.order == ["ben", "ann"])
    }

    @Test("A voice counts as loud as the audience hears it")
    func gains() {
        // Louder at the microphone, and quieter in the program.
        var together = Trace(levels: ["ann": -10, "ben": -22], gains: ["ann": -20, "ben": 6])
        together.play(["ann": loud(5), "ben": loud(5)])
        #expect(together.story == ["0.4 ben began"])
        var drawnDown = Trace(gains: ["ann": -40])
        drawnDown.play(["ann": quiet(2) + loud(30)])
        #expect(drawnDown.story.isEmpty)
        var drawnUp = Trace(levels: ["ann": -52], gains: ["ann": 12])
        drawnUp.play(["ann": quiet(2) + loud(30)])
        #expect(drawnUp.story == ["0.5 ann began"])
    }

    @Test("A fader that is drawn up makes no voice of a noise that was none")
    func noiseDrawnUp() {
        var trace = Trace(levels: ["fan": -49], gains: ["fan": -6])
        trace.play(["fan": loud(100)])
        trace.gains["fan"] = 4
        trace.play(["fan": loud(100)])
        #expect(trace.story.isEmpty)
    }

    @Test("When the reports stop, everybody falls silent and the floor is nobody's")
    func reportsStop() {
        var trace = Trace()
        trace.play(["ann": loud(20)])
        var actions: [DominantSpeaker.Action] = []
        for second in 3...6 { actions += trace.speaker.tick(at: Trace.origin + Double(second)) }
        #expect(
            actions == [
                .speaking("ann", false),
                .dominant(SpeakerChange(participantSID: nil, previousSID: "ann", reason: .silence)),
            ]
        )
    }

    @Test("Levels out of range, time that stands still and one named twice do no harm")
    func oddReports() {
        #expect(AudioLevel(participantSID: "a", level: .nan).level == AudioLevel.silence)
        #expect(AudioLevel(participantSID: "a", level: 12).level == 0)
        #expect(AudioLevel(participantSID: "a", level: -.infinity).level == AudioLevel.silence)
        var speaker = DominantSpeaker()
        for _ in 0..<100 {
            #expect(speaker.hear([AudioLevel(participantSID: "a", level: -10)], at: 5).isEmpty)
        }
        let twice = [AudioLevel(participantSID: "a", level: -10), AudioLevel(participantSID: "a", level: nil)]
        _ = speaker.hear(twice, at: 5.1)
        #expect(speaker.level(of: "a") == -10)
        #expect(speaker.hear([AudioLevel(participantSID: "a", level: -10)], at: 4).isEmpty)
    }

    @Test(
        "Whatever is heard, a change names who was, one who is there, and a floor that is nobody's only without speech"
    )
    func laws() {
        var chance = SeededGenerator(seed: 25)
        for _ in 0..<40 {
            var speaker = DominantSpeaker()
            var present = Set(["a", "b", "c", "d"])
            var dominant: String?
            var lastChange = -10.0
            for step in 1...600 {
                let now = Double(step) / 10
                var actions: [DominantSpeaker.Action] = []
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
                    actions = speaker.hear(levels, at: now)
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
