@testable import Gateway
import Media
import Testing

@Suite("A host whose media ends the mixer")
final class HostQuarantineTests {
    private typealias Sentence = HostQuarantine.Sentence
    private var quarantine = HostQuarantine()
    private var now = MonotonicTime(nanoseconds: 1_000_000_000)

    private func die(_ suspects: Set<String>, after seconds: Double = 1) -> [Sentence] {
        now = now.advanced(seconds: seconds)
        return quarantine.died(decoding: suspects, now: now)
    }

    @Test("Three deaths within a minute over the same host keep it out for half a minute, and nobody else")
    func three() {
        #expect(die(["bad", "good"]) == [])
        #expect(die(["bad"]) == [])
        #expect(die(["bad", "other"]) == [Sentence(participantSID: "bad", seconds: 30)])
        // The others have one death each.
        #expect(die(["good"]) == [] && die(["other"]) == [])
    }

    @Test("Deaths that lie further apart, or are nobody's, keep nobody out")
    func apart() {
        for _ in 0..<10 { #expect(die(["bad"], after: 31) == []) }
        for _ in 0..<10 { #expect(die([], after: 1) == []) }
        #expect(die(["bad"], after: 100) == [])
        #expect(die(["bad"]) == [])
        #expect(die(["bad"]) == [Sentence(participantSID: "bad", seconds: 30)])
    }

    @Test("After its time one death is enough, and each time lasts twice as long, up to ten minutes")
    func again() {
        _ = (die(["bad"]), die(["bad"]), die(["bad"]))
        var seconds = 30.0
        for expected in [60.0, 120, 240, 480, 600, 600] {
            #expect(die(["bad"], after: seconds + 5) == [Sentence(participantSID: "bad", seconds: expected)])
            seconds = expected
        }
    }

    @Test("A host that was good for ten minutes after its time begins anew")
    func forgiven() {
        _ = (die(["bad"]), die(["bad"]), die(["bad"]))
        #expect(die(["bad"], after: 30 + 601) == [])
        #expect(die(["bad"]) == [])
        #expect(die(["bad"]) == [Sentence(participantSID: "bad", seconds: 30)])
    }

    @Test("Two that are both to blame are both kept out")
    func two() {
        _ = (die(["a", "b"]), die(["a", "b"]))
        #expect(die(["a", "b"]).map(\.participantSID) == ["a", "b"])
    }
}
