import HLS
import Testing

@Suite("Delivery directives")
struct DeliveryDirectivesTests {
    private static let hostile = [
        "", " 1", "1 ", "-1", "+1", "1.0", "1e3", "0x10", "abc", "1,2",
        "\u{0661}", "%31", "YES",
        "99999999999999999999",
        "NaN", String(repeating: "9", count: 4000),
    ]

    @Test("rejects numbers that contain anything but digits", arguments: hostile)
    func numbers(text: String) {
        #expect(DeliveryDirectives(sequence: text, part: nil, skip: nil) == nil)
        #expect(DeliveryDirectives(sequence: "1", part: text, skip: nil) == nil)
        #expect(text == "YES" || DeliveryDirectives(sequence: nil, part: nil, skip: text) == nil)
    }

    @Test("rejects a part without a segment and accepts requests without directives")
    func combinations() throws {
        #expect(DeliveryDirectives(sequence: nil, part: "1", skip: nil) == nil)
        let none = try #require(DeliveryDirectives(sequence: nil, part: nil, skip: nil))
        #expect(none == .none && !none.isLowLatencyRequest)
        for skip in ["YES", "v2"] {
            let delta = try #require(DeliveryDirectives(sequence: nil, part: nil, skip: skip))
            #expect(delta.isDelta && delta.isLowLatencyRequest)
        }
        let both = try #require(DeliveryDirectives(sequence: "007", part: "3", skip: "YES"))
        #expect(both.sequence == 7 && both.part == 3 && both.isLowLatencyRequest)
        let immediate = both.withoutBlocking
        #expect(immediate.sequence == nil && immediate.part == nil && immediate.isDelta)
    }

    /// A program whose segments have 6 parts; segments 0 to 2 are complete, and 3 has parts 0 and 1.
    private func broadcast() -> Broadcast {
        var broadcast = Broadcast(HLSConfiguration(partDuration: 0.333))
        broadcast.feed(SyntheticProgram.frames(rate: 30, seconds: 6.8))
        return broadcast
    }

    private func readiness(_ broadcast: Broadcast, _ sequence: Int, _ part: Int?) -> MediaPlaylist.Readiness? {
        DeliveryDirectives(sequence: "\(sequence)", part: part.map { "\($0)" }, skip: nil)
            .map { broadcast.playlist.readiness(for: $0) }
    }

    @Test("answers a blocking reload when the segment or part exists and rejects requests too far ahead")
    func readiness() {
        let broadcast = broadcast()
        #expect(broadcast.playlist.nextPart == PartPosition(sequence: 3, index: 2))
        #expect(broadcast.segments.map(\.parts.count) == [6, 6, 6])
        // Complete segments.
        #expect((0...2).allSatisfy { readiness(broadcast, $0, nil) == .ready })
        #expect([3, 4].allSatisfy { readiness(broadcast, $0, nil) == .later })
        #expect([5, 6, 1000, Int.max].allSatisfy { readiness(broadcast, $0, nil) == .tooFar })
        // Parts of the open segment, at most 8 beyond the last.
        #expect([0, 1].allSatisfy { readiness(broadcast, 3, $0) == .ready })
        #expect([2, 9].allSatisfy { readiness(broadcast, 3, $0) == .later })
        #expect([10, 11, Int.max].allSatisfy { readiness(broadcast, 3, $0) == .tooFar })
        #expect([0, 7].allSatisfy { readiness(broadcast, 4, $0) == .later })
        #expect([8, Int.max].allSatisfy { readiness(broadcast, 4, $0) == .tooFar })
        #expect(readiness(broadcast, 5, 0) == .tooFar)
        // Older segments are ready for any part, including the next.
        #expect([0, 5, 6, 900].allSatisfy { readiness(broadcast, 2, $0) == .ready })
    }

    @Test("treats a part index beyond a segment as the first part of the next one")
    func rollOver() {
        var broadcast = Broadcast(HLSConfiguration(partDuration: 0.333))
        broadcast.feed(SyntheticProgram.frames(rate: 30, seconds: 4.1))
        #expect(broadcast.playlist.nextPart == PartPosition(sequence: 2, index: 0))
        #expect(readiness(broadcast, 1, 5) == .ready)
        #expect(readiness(broadcast, 1, 6) == .later)
        #expect(readiness(broadcast, 0, 6) == .ready)
    }

    @Test("is always ready after the end")
    func ended() {
        var broadcast = broadcast()
        broadcast.finish()
        #expect([0, 3, 4, 900].allSatisfy { readiness(broadcast, $0, nil) == .ready })
        #expect(readiness(broadcast, 900, Int.max) == .ready)
    }

    @Test("satisfies a blocking request as soon as the announced part exists")
    func promises() {
        var broadcast = Broadcast(HLSConfiguration())
        for packet in SyntheticProgram.frames(rate: 25, seconds: 20) {
            let next = broadcast.playlist.nextPart
            let count = broadcast.parts.count
            let wasPlayable = broadcast.playlist.isPlayable
            if wasPlayable { #expect(readiness(broadcast, next.sequence, next.index) == .later) }
            broadcast.feed([packet])
            guard broadcast.parts.count > count, wasPlayable else { continue }
            #expect(readiness(broadcast, next.sequence, next.index) == .ready)
            #expect(broadcast.playlist.file(named: next.name) == [broadcast.parts[count].data])
        }
    }
}
