@testable import Gateway
import Media
import Testing

@Suite("Quarantine of a host whose media crashes the mixer")
final class HostQuarantineTests {
    private typealias Penalty = HostQuarantine.Penalty
    private var quarantine = HostQuarantine()
    private var now = MonotonicTime(nanoseconds: 1_000_000_000)

    private func crash(_ suspects: Set<String>, after seconds: Double = 1) -> [Penalty] {
        now = now.advanced(seconds: seconds)
        return quarantine.mixerCrashed(decoding: suspects, now: now)
    }

    @Test("three crashes within a minute quarantine their host for 30 seconds, and no other")
    func three() {
        #expect(crash(["bad", "good"]) == [])
        #expect(crash(["bad"]) == [])
        #expect(crash(["bad", "other"]) == [Penalty(participantSID: "bad", seconds: 30)])
        // The others have one crash each.
        #expect(crash(["good"]) == [] && crash(["other"]) == [])
    }

    @Test("crashes further apart, or outside of decoding, quarantine no host")
    func separateCrashes() {
        for _ in 0..<10 { #expect(crash(["bad"], after: 31) == []) }
        for _ in 0..<10 { #expect(crash([], after: 1) == []) }
        #expect(crash(["bad"], after: 100) == [])
        #expect(crash(["bad"]) == [])
        #expect(crash(["bad"]) == [Penalty(participantSID: "bad", seconds: 30)])
    }

    @Test("after a penalty one crash suffices, and each penalty lasts twice as long up to ten minutes")
    func repeatedPenalty() {
        _ = (crash(["bad"]), crash(["bad"]), crash(["bad"]))
        var seconds = 30.0
        for expected in [60.0, 120, 240, 480, 600, 600] {
            #expect(crash(["bad"], after: seconds + 5) == [Penalty(participantSID: "bad", seconds: expected)])
            seconds = expected
        }
    }

    @Test("ten minutes without a crash after a penalty clear the record")
    func recordExpires() {
        _ = (crash(["bad"]), crash(["bad"]), crash(["bad"]))
        #expect(crash(["bad"], after: 30 + 601) == [])
        #expect(crash(["bad"]) == [])
        #expect(crash(["bad"]) == [Penalty(participantSID: "bad", seconds: 30)])
    }

    @Test("quarantines two hosts that are involved in all crashes")
    func twoHosts() {
        _ = (crash(["a", "b"]), crash(["a", "b"]))
        #expect(crash(["a", "b"]).map(\.participantSID) == ["a", "b"])
    }
}
