@testable import FanOut
import Media
import NIOCore
import Stage
import Synchronization
import Testing

@Suite("One loop's share of a feed")
struct FeedShareTests {
    private let stand = ShareStand()

    private func goOnAir(_ other: ShareStand? = nil) {
        let stand = other ?? stand
        stand.send(Packets.metadata(), Packets.video(), Packets.audio(), Packets.key(0), Packets.sound(10))
        stand.send(Packets.picture(40))
    }

    @Test("A join is answered at once: metadata, headers, key picture and what followed, in one flush")
    func join() {
        goOnAir()
        let (_, output) = stand.join()
        #expect(output.text == "m0 V0 A0 K0 s10 p40")
        #expect(output.flushes == 1)
        stand.send(Packets.picture(80), Packets.sound(90))
        #expect(output.text == "m0 V0 A0 K0 s10 p40 p80 s90")
        #expect(output.flushes == 2)
    }

    @Test("A viewer that comes before the first key picture starts with it")
    func joinBeforeMedia() {
        let (_, output) = stand.join()
        stand.send(Packets.video(), Packets.audio(), Packets.sound(0))
        #expect(output.buffers.isEmpty)
        stand.send(Packets.sound(30), Packets.key(40), Packets.picture(80))
        #expect(output.text == "V40 A40 K40 p80")
    }

    @Test("A key picture in the middle of a batch is one send to all, and where those begin who wait for it")
    func startInBatch() {
        goOnAir()
        let flowing = stand.join().output
        let skipped = stand.join()
        skipped.viewer.state = .waiting
        stand.send(Packets.picture(80), Packets.key(120), Packets.sound(130))
        #expect(flowing.text == "m0 V0 A0 K0 s10 p40 p80 K120 s130")
        #expect(flowing.flushes == 2)
        #expect(skipped.output.text == "m0 V0 A0 K0 s10 p40 m0 V120 A120 K120 s130")
        #expect(skipped.output.flushes == 2)
        #expect(stand.join().output.text == "m0 V120 A120 K120 s130")
    }

    @Test("Small writes of a crowd are gathered from a viewer's first media on, and never without a tick")
    func gathering() {
        let stand = ShareStand(FanOutConfiguration(promptAudience: 0))
        let early = stand.join().output
        #expect(!early.isGathering)
        goOnAir(stand)
        #expect(early.isGathering)
        #expect(early.buffersBeforeGathering == 2)
        let late = stand.join().output
        #expect(late.isGathering)
        #expect(late.buffersBeforeGathering == late.buffers.count)

        let prompt = ShareStand(FanOutConfiguration(tick: .zero))
        prompt.send(Packets.video(), Packets.key(0))
        let output = prompt.join().output
        prompt.send(Packets.picture(40))
        #expect(output.text == "V0 K0 p40")
        #expect(!output.isGathering)

        let few = self.stand.join().output
        goOnAir()
        #expect(few.text.contains("K0") && !few.isGathering)
    }

    @Test("Who came before the crowd has its small writes gathered with it, and no longer when half of it has gone")
    func crowd() {
        let stand = ShareStand(FanOutConfiguration(promptAudience: 2))
        goOnAir(stand)
        let few = [stand.join(), stand.join()]
        stand.send(Packets.picture(80))
        #expect(few.allSatisfy { !$0.output.isGathering })
        let third = stand.join()
        stand.send(Packets.picture(120))
        #expect((few + [third]).allSatisfy { $0.output.isGathering })
        stand.share.remove(third.viewer, reason: .left, now: stand.now)
        stand.send(Packets.picture(160))
        #expect(few.allSatisfy { $0.output.isGathering })
        stand.share.remove(few[1].viewer, reason: .left, now: stand.now)
        stand.send(Packets.picture(200))
        #expect(!few[0].output.isGathering)
    }

    @Test("All viewers of a form get the same buffer, joiners too")
    func sharedBuffers() throws {
        let first = stand.join().output
        let second = stand.join().output
        goOnAir()
        let late = stand.join().output
        let other = stand.join().output
        stand.send(Packets.picture(80))
        for (left, right) in [(first, second), (late, other)] {
            #expect(left.buffers.count == right.buffers.count)
            for (one, two) in zip(left.buffers, right.buffers) { #expect(one.storage == two.storage) }
        }
        #expect(try #require(first.buffers.last).storage == #require(late.buffers.last).storage)
        // What went out live is what joiners get: the group is not built a second time.
        #expect(first.buffers.dropFirst().map(\.storage) == late.buffers.dropFirst().map(\.storage))
    }

    @Test("RTMP and FLV viewers side by side get the same media in their own form")
    func bothForms() throws {
        goOnAir()
        let flv = stand.join(.flv).output
        let rtmp = stand.join(.rtmp).output
        stand.send(Packets.picture(80))
        #expect(flv.text == "m0 V0 A0 K0 s10 p40 p80")
        var expected = ByteBuffer()
        for packet in [Packets.metadata(), Packets.video(), Packets.audio(), Packets.key(0), Packets.sound(10)] {
            expected.writeImmutableBuffer(ViewerWire.rtmp.encode([packet]))
        }
        expected.writeImmutableBuffer(ViewerWire.rtmp.encode([Packets.picture(40), Packets.picture(80)]))
        var written = ByteBuffer()
        for buffer in rtmp.buffers { written.writeImmutableBuffer(buffer) }
        #expect(written == expected)
    }

    @Test("A configuration that changes in the stream reaches everyone, before the picture it is for")
    func reconfiguration() {
        goOnAir()
        let early = stand.join().output
        stand.send(Packets.picture(960), Packets.video(1_000), Packets.key(1_000), Packets.picture(1_040))
        #expect(early.text == "m0 V0 A0 K0 s10 p40 p960 V1000 K1000 p1040")
        let late = stand.join().output
        #expect(late.text == "m0 V1000 A1000 K1000 p1040")
    }

    @Test("A slow viewer is skipped to the next key picture after five seconds, and counted; others miss nothing")
    func slowViewer() {
        goOnAir()
        let (slow, output) = stand.join()
        let (_, quick) = stand.join()
        slow.noteWritability(false, now: stand.now)
        stand.wait(4)
        stand.send(Packets.picture(4_000))
        #expect(output.tags.last?.timestamp == 4_000)
        stand.wait(1.5)
        stand.send(Packets.picture(5_500))
        stand.send(Packets.key(5_600))
        #expect(output.tags.last?.timestamp == 4_000)
        #expect(stand.counters.skips.load(ordering: .relaxed) == 1)
        slow.noteWritability(true, now: stand.now)
        stand.send(Packets.picture(5_640))
        #expect(output.tags.last?.timestamp == 4_000)
        stand.send(Packets.sound(6_590), Packets.key(6_600), Packets.picture(6_640))
        #expect(output.tags.suffix(5).map(\.description) == ["m0", "V6600", "A6600", "K6600", "p6640"])
        #expect(quick.text.hasSuffix("p4000 p5500 K5600 p5640 s6590 K6600 p6640"))
        #expect(output.ends.isEmpty)
        #expect(stand.counters.skips.load(ordering: .relaxed) == 1)
    }

    @Test("A viewer with more than four mebibytes waiting is skipped before the time is up")
    func slowByBytes() {
        goOnAir()
        let (slow, output) = stand.join()
        slow.noteWritability(false, now: stand.now)
        output.hold()
        for number in 1...5 { stand.send(Packets.picture(Int64(number) * 40, bytes: 1 << 20)) }
        #expect(output.tags.last?.timestamp == 160)
        stand.send(Packets.picture(240))
        #expect(output.tags.last?.timestamp == 160)
        #expect(stand.counters.skips.load(ordering: .relaxed) == 1)
    }

    @Test("A viewer that takes nothing for ten seconds is closed, once, and the story ends there")
    func deadViewer() {
        goOnAir()
        let (dead, output) = stand.join(sid: "r-1")
        let (_, quick) = stand.join()
        dead.noteWritability(false, now: stand.now)
        for second in 1...12 {
            stand.wait(1)
            stand.send(Packets.key(Int64(second) * 1_000))
            if second == 10 { #expect(output.ends.isEmpty) }
        }
        #expect(output.ends == [.tooSlow])
        #expect(stand.counters.closedSlow.load(ordering: .relaxed) == 1)
        #expect(stand.counters.viewers.load(ordering: .relaxed) == 1)
        stand.share.remove(dead, reason: .left, now: stand.now)
        #expect(stand.counters.viewers.load(ordering: .relaxed) == 1)
        #expect(stand.audience.story.filter { $0 != "watched r-1" } == ["opened r-1", "closed(tooSlow) r-1"])
        #expect(quick.tags.last?.timestamp == 12_000)
    }

    @Test("A feed without pictures is joined at its latest sound")
    func soundOnly() {
        stand.send(Packets.audio(), Packets.sound(0))
        stand.send(Packets.sound(21), Packets.sound(42))
        let (_, output) = stand.join()
        #expect(output.text == "A21 s21 s42")
        stand.send(Packets.sound(64))
        #expect(output.text == "A21 s21 s42 s64")
    }

    @Test("When the group outgrew its limits, viewers go on and a joiner waits for the next key picture")
    func oversizedGroup() {
        goOnAir()
        let early = stand.join().output
        for time in stride(from: 80, through: 9_000, by: 40) { stand.send(Packets.picture(Int64(time))) }
        let late = stand.join().output
        #expect(late.buffers.isEmpty)
        #expect(early.tags.last?.timestamp == 9_000)
        stand.send(Packets.key(9_040))
        #expect(late.text == "m0 V9040 A9040 K9040")
        #expect(early.tags.count == 6 + 224 + 1)
    }

    @Test("A viewer counts after five seconds of media, once, from the moment of its first")
    func qualification() {
        let (_, output) = stand.join(sid: "r-1")
        stand.wait(3)
        goOnAir()
        let first = stand.now
        for second in 1...7 {
            stand.wait(1)
            stand.send(Packets.key(Int64(second) * 1_000))
            let expected = second < 5 ? ["opened r-1"] : ["opened r-1", "watched r-1"]
            #expect(stand.audience.story == expected)
        }
        #expect(stand.audience.events.last?.kind == .watched(since: first))
        #expect(stand.audience.events.last?.at == first.advanced(seconds: 5))
        #expect(output.ends.isEmpty)
    }

    @Test(
        "Viewers may leave in any order while others stay",
        arguments: [[0, 1, 2, 3], [3, 1, 0, 2], [2, 2, 3, 0, 1]]
    )
    func leaving(order: [Int]) {
        goOnAir()
        let viewers = (0..<4).map { stand.join(sid: "r-\($0)") }
        var gone: Set<Int> = []
        for number in order {
            stand.share.remove(viewers[number].viewer, reason: .left, now: stand.now)
            gone.insert(number)
            let before = viewers.map(\.output.buffers.count)
            stand.send(Packets.picture(80))
            for (index, viewer) in viewers.enumerated() {
                #expect(viewer.output.buffers.count == before[index] + (gone.contains(index) ? 0 : 1))
            }
        }
        #expect(stand.counters.viewers.load(ordering: .relaxed) == 0)
        #expect(stand.audience.story.filter { $0.hasPrefix("closed") }.count == 4)
    }

    @Test("A viewer whose socket fails in the middle of a flush is gone, and nobody else is missed")
    func failsInFlush() {
        goOnAir()
        let viewers = (0..<3).map { stand.join(sid: "r-\($0)") }
        stand.wait(6)
        let (failing, output) = viewers[1]
        output.onFlush = { stand.share.remove(failing, reason: .left, now: stand.now) }
        stand.send(Packets.picture(80))
        stand.send(Packets.picture(120))
        #expect(output.tags.last?.timestamp == 80)
        #expect(viewers[0].output.tags.last?.timestamp == 120)
        #expect(viewers[2].output.tags.last?.timestamp == 120)
        let story = stand.audience.story.filter { $0.hasSuffix("r-1") }
        #expect(story == ["opened r-1", "closed(left) r-1"])
    }

    @Test("The end of the feed ends every viewer once, and whoever comes too late")
    func end() {
        goOnAir()
        let viewers = (0..<3).map { stand.join($0 == 1 ? .rtmp : .flv, sid: "r-\($0)") }
        stand.share.end(.roomEnded, now: stand.now)
        #expect(viewers.map(\.output.ends) == [[.roomEnded], [.roomEnded], [.roomEnded]])
        let late = stand.join(sid: "r-9").output
        #expect(late.ends == [.roomEnded])
        #expect(late.buffers.isEmpty)
        stand.send(Packets.picture(80))
        #expect(viewers.allSatisfy { $0.output.tags.last?.timestamp != 80 })
        #expect(stand.counters.viewers.load(ordering: .relaxed) == 0)
        #expect(stand.audience.story.filter { $0.hasPrefix("closed(roomEnded)") }.count == 3)
        #expect(!stand.audience.story.contains { $0.hasSuffix("r-9") })
    }

    @Test("Bytes are counted as they are handed over")
    func bytes() {
        goOnAir()
        let outputs = (0..<3).map { _ in stand.join().output }
        stand.send(Packets.picture(80))
        let written = outputs.reduce(0) { $0 + $1.buffers.reduce(0) { $0 + $1.readableBytes } }
        #expect(stand.counters.bytes.load(ordering: .relaxed) == UInt64(written))
    }
}

extension ByteBuffer {
    /// Where the bytes lie in memory: the same for two buffers that share their storage.
    fileprivate var storage: UnsafeRawPointer? { withUnsafeReadableBytes { $0.baseAddress } }
}
