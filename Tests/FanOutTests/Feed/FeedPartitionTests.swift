import Media
import NIOCore
import Stage
import Synchronization
import Testing

@testable import FanOut

@Suite("Feed partition")
struct FeedPartitionTests {
    private let fixture = FeedPartitionFixture()

    private func goOnAir(_ other: FeedPartitionFixture? = nil) {
        let fixture = other ?? fixture
        fixture.send(Packets.metadata(), Packets.video(), Packets.audio(), Packets.key(0), Packets.audioFrame(10))
        fixture.send(Packets.frame(40))
    }

    @Test("sends metadata, headers, keyframe and the following packets at once on a join, in one flush")
    func join() {
        goOnAir()
        let (_, output) = fixture.join()
        #expect(output.text == "m0 V0 A0 K0 s10 p40")
        #expect(output.flushes == 1)
        fixture.send(Packets.frame(80), Packets.audioFrame(90))
        #expect(output.text == "m0 V0 A0 K0 s10 p40 p80 s90")
        #expect(output.flushes == 2)
    }

    @Test("starts a viewer that joined before the first keyframe with that keyframe")
    func joinBeforeMedia() {
        let (_, output) = fixture.join()
        fixture.send(Packets.video(), Packets.audio(), Packets.audioFrame(0))
        #expect(output.buffers.isEmpty)
        fixture.send(Packets.audioFrame(30), Packets.key(40), Packets.frame(80))
        #expect(output.text == "V40 A40 K40 p80")
    }

    @Test("sends a batch with a keyframe in one write, and starts waiting viewers at the keyframe")
    func startInBatch() {
        goOnAir()
        let flowing = fixture.join().output
        let skipped = fixture.join()
        skipped.viewer.state = .waiting
        fixture.send(Packets.frame(80), Packets.key(120), Packets.audioFrame(130))
        #expect(flowing.text == "m0 V0 A0 K0 s10 p40 p80 K120 s130")
        #expect(flowing.flushes == 2)
        #expect(skipped.output.text == "m0 V0 A0 K0 s10 p40 m0 V120 A120 K120 s130")
        #expect(skipped.output.flushes == 2)
        #expect(fixture.join().output.text == "m0 V120 A120 K120 s130")
    }

    @Test("gathers small writes of a large audience from a viewer's first media on, and never without a tick")
    func gathering() {
        let fixture = FeedPartitionFixture(FanOutConfiguration(smallAudienceLimit: 0))
        let early = fixture.join().output
        #expect(!early.isNagleEnabled)
        goOnAir(fixture)
        #expect(early.isNagleEnabled)
        #expect(early.buffersBeforeGathering == 2)
        let late = fixture.join().output
        #expect(late.isNagleEnabled)
        #expect(late.buffersBeforeGathering == late.buffers.count)

        let prompt = FeedPartitionFixture(FanOutConfiguration(tick: .zero))
        prompt.send(Packets.video(), Packets.key(0))
        let output = prompt.join().output
        prompt.send(Packets.frame(40))
        #expect(output.text == "V0 K0 p40")
        #expect(!output.isNagleEnabled)

        let few = self.fixture.join().output
        goOnAir()
        #expect(few.text.contains("K0") && !few.isNagleEnabled)
    }

    @Test("gathers writes of earlier viewers once the audience is large, until half of it has left")
    func crowd() {
        let fixture = FeedPartitionFixture(FanOutConfiguration(smallAudienceLimit: 2))
        goOnAir(fixture)
        let few = [fixture.join(), fixture.join()]
        fixture.send(Packets.frame(80))
        #expect(few.allSatisfy { !$0.output.isNagleEnabled })
        let third = fixture.join()
        fixture.send(Packets.frame(120))
        #expect((few + [third]).allSatisfy { $0.output.isNagleEnabled })
        fixture.partition.remove(third.viewer, reason: .left, now: fixture.now)
        fixture.send(Packets.frame(160))
        #expect(few.allSatisfy { $0.output.isNagleEnabled })
        fixture.partition.remove(few[1].viewer, reason: .left, now: fixture.now)
        fixture.send(Packets.frame(200))
        #expect(!few[0].output.isNagleEnabled)
    }

    @Test("shares one buffer among all viewers of a wire format, including joining ones")
    func sharedBuffers() throws {
        let first = fixture.join().output
        let second = fixture.join().output
        goOnAir()
        let late = fixture.join().output
        let other = fixture.join().output
        fixture.send(Packets.frame(80))
        for (left, right) in [(first, second), (late, other)] {
            #expect(left.buffers.count == right.buffers.count)
            for (one, two) in zip(left.buffers, right.buffers) { #expect(one.storage == two.storage) }
        }
        #expect(try #require(first.buffers.last).storage == #require(late.buffers.last).storage)
        // A joining viewer gets the buffers that were sent live; the GOP is not encoded again.
        #expect(first.buffers.dropFirst().map(\.storage) == late.buffers.dropFirst().map(\.storage))
    }

    @Test("sends RTMP and FLV viewers the same media in their own wire formats")
    func bothForms() throws {
        goOnAir()
        let flv = fixture.join(.flv).output
        let rtmp = fixture.join(.rtmp).output
        fixture.send(Packets.frame(80))
        #expect(flv.text == "m0 V0 A0 K0 s10 p40 p80")
        var expected = ByteBuffer()
        for packet in [Packets.metadata(), Packets.video(), Packets.audio(), Packets.key(0), Packets.audioFrame(10)] {
            expected.writeImmutableBuffer(ViewerWireFormat.rtmp.encode([packet]))
        }
        expected.writeImmutableBuffer(ViewerWireFormat.rtmp.encode([Packets.frame(40), Packets.frame(80)]))
        var written = ByteBuffer()
        for buffer in rtmp.buffers { written.writeImmutableBuffer(buffer) }
        #expect(written == expected)
    }

    @Test("sends a changed configuration to all viewers before the frame that needs it")
    func reconfiguration() {
        goOnAir()
        let early = fixture.join().output
        fixture.send(Packets.frame(960), Packets.video(1_000), Packets.key(1_000), Packets.frame(1_040))
        #expect(early.text == "m0 V0 A0 K0 s10 p40 p960 V1000 K1000 p1040")
        let late = fixture.join().output
        #expect(late.text == "m0 V1000 A1000 K1000 p1040")
    }

    @Test("skips a slow viewer to the next keyframe after five seconds, and counts it; others miss nothing")
    func slowViewer() {
        goOnAir()
        let (slow, output) = fixture.join()
        let (_, quick) = fixture.join()
        slow.updateWritability(false, now: fixture.now)
        fixture.wait(4)
        fixture.send(Packets.frame(4_000))
        #expect(output.tags.last?.timestamp == 4_000)
        fixture.wait(1.5)
        fixture.send(Packets.frame(5_500))
        fixture.send(Packets.key(5_600))
        #expect(output.tags.last?.timestamp == 4_000)
        #expect(fixture.counters.skips.load(ordering: .relaxed) == 1)
        slow.updateWritability(true, now: fixture.now)
        fixture.send(Packets.frame(5_640))
        #expect(output.tags.last?.timestamp == 4_000)
        fixture.send(Packets.audioFrame(6_590), Packets.key(6_600), Packets.frame(6_640))
        #expect(output.tags.suffix(5).map(\.description) == ["m0", "V6600", "A6600", "K6600", "p6640"])
        #expect(quick.text.hasSuffix("p4000 p5500 K5600 p5640 s6590 K6600 p6640"))
        #expect(output.ends.isEmpty)
        #expect(fixture.counters.skips.load(ordering: .relaxed) == 1)
    }

    @Test("skips a viewer with more than four mebibytes queued before the time limit")
    func slowByBytes() {
        goOnAir()
        let (slow, output) = fixture.join()
        slow.updateWritability(false, now: fixture.now)
        output.block()
        for number in 1...5 { fixture.send(Packets.frame(Int64(number) * 40, bytes: 1 << 20)) }
        #expect(output.tags.last?.timestamp == 160)
        fixture.send(Packets.frame(240))
        #expect(output.tags.last?.timestamp == 160)
        #expect(fixture.counters.skips.load(ordering: .relaxed) == 1)
    }

    @Test("closes a viewer whose socket accepts nothing for ten seconds, once")
    func deadViewer() {
        goOnAir()
        let (dead, output) = fixture.join(sid: "r-1")
        let (_, quick) = fixture.join()
        dead.updateWritability(false, now: fixture.now)
        for second in 1...12 {
            fixture.wait(1)
            fixture.send(Packets.key(Int64(second) * 1_000))
            if second == 10 { #expect(output.ends.isEmpty) }
        }
        #expect(output.ends == [.tooSlow])
        #expect(fixture.counters.closedSlow.load(ordering: .relaxed) == 1)
        #expect(fixture.counters.viewers.load(ordering: .relaxed) == 1)
        fixture.partition.remove(dead, reason: .left, now: fixture.now)
        #expect(fixture.counters.viewers.load(ordering: .relaxed) == 1)
        #expect(fixture.audience.eventLog.filter { $0 != "watched r-1" } == ["opened r-1", "closed(tooSlow) r-1"])
        #expect(quick.tags.last?.timestamp == 12_000)
    }

    @Test("starts at the latest audio frame of a feed without video")
    func audioOnly() {
        fixture.send(Packets.audio(), Packets.audioFrame(0))
        fixture.send(Packets.audioFrame(21), Packets.audioFrame(42))
        let (_, output) = fixture.join()
        #expect(output.text == "A21 s21 s42")
        fixture.send(Packets.audioFrame(64))
        #expect(output.text == "A21 s21 s42 s64")
    }

    @Test("when a GOP exceeds its limits, viewers continue and a joining viewer waits for the next keyframe")
    func oversizedGroup() {
        goOnAir()
        let early = fixture.join().output
        for time in stride(from: 80, through: 9_000, by: 40) { fixture.send(Packets.frame(Int64(time))) }
        let late = fixture.join().output
        #expect(late.buffers.isEmpty)
        #expect(early.tags.last?.timestamp == 9_000)
        fixture.send(Packets.key(9_040))
        #expect(late.text == "m0 V9040 A9040 K9040")
        #expect(early.tags.count == 6 + 224 + 1)
    }

    @Test("records a viewer as watching once, after five seconds since its first media")
    func qualification() {
        let (_, output) = fixture.join(sid: "r-1")
        fixture.wait(3)
        goOnAir()
        let first = fixture.now
        for second in 1...7 {
            fixture.wait(1)
            fixture.send(Packets.key(Int64(second) * 1_000))
            let expected = second < 5 ? ["opened r-1"] : ["opened r-1", "watched r-1"]
            #expect(fixture.audience.eventLog == expected)
        }
        #expect(fixture.audience.events.last?.kind == .watched(since: first))
        #expect(fixture.audience.events.last?.at == first.advanced(seconds: 5))
        #expect(output.ends.isEmpty)
    }

    @Test(
        "viewers can leave in any order while others stay",
        arguments: [[0, 1, 2, 3], [3, 1, 0, 2], [2, 2, 3, 0, 1]]
    )
    func leaving(order: [Int]) {
        goOnAir()
        let viewers = (0..<4).map { fixture.join(sid: "r-\($0)") }
        var gone: Set<Int> = []
        for number in order {
            fixture.partition.remove(viewers[number].viewer, reason: .left, now: fixture.now)
            gone.insert(number)
            let before = viewers.map(\.output.buffers.count)
            fixture.send(Packets.frame(80))
            for (index, viewer) in viewers.enumerated() {
                #expect(viewer.output.buffers.count == before[index] + (gone.contains(index) ? 0 : 1))
            }
        }
        #expect(fixture.counters.viewers.load(ordering: .relaxed) == 0)
        #expect(fixture.audience.eventLog.filter { $0.hasPrefix("closed") }.count == 4)
    }

    @Test("removes a viewer whose socket fails during a flush, and serves all others")
    func failsInFlush() {
        goOnAir()
        let viewers = (0..<3).map { fixture.join(sid: "r-\($0)") }
        fixture.wait(6)
        let (failing, output) = viewers[1]
        output.onFlush = { fixture.partition.remove(failing, reason: .left, now: fixture.now) }
        fixture.send(Packets.frame(80))
        fixture.send(Packets.frame(120))
        #expect(output.tags.last?.timestamp == 80)
        #expect(viewers[0].output.tags.last?.timestamp == 120)
        #expect(viewers[2].output.tags.last?.timestamp == 120)
        let eventLog = fixture.audience.eventLog.filter { $0.hasSuffix("r-1") }
        #expect(eventLog == ["opened r-1", "closed(left) r-1"])
    }

    @Test("ending the feed closes every viewer once, and those added later")
    func end() {
        goOnAir()
        let viewers = (0..<3).map { fixture.join($0 == 1 ? .rtmp : .flv, sid: "r-\($0)") }
        fixture.partition.end(.roomEnded, now: fixture.now)
        #expect(viewers.map(\.output.ends) == [[.roomEnded], [.roomEnded], [.roomEnded]])
        let late = fixture.join(sid: "r-9").output
        #expect(late.ends == [.roomEnded])
        #expect(late.buffers.isEmpty)
        fixture.send(Packets.frame(80))
        #expect(viewers.allSatisfy { $0.output.tags.last?.timestamp != 80 })
        #expect(fixture.counters.viewers.load(ordering: .relaxed) == 0)
        #expect(fixture.audience.eventLog.filter { $0.hasPrefix("closed(roomEnded)") }.count == 3)
        #expect(!fixture.audience.eventLog.contains { $0.hasSuffix("r-9") })
    }

    @Test("counts bytes as they are sent")
    func bytes() {
        goOnAir()
        let outputs = (0..<3).map { _ in fixture.join().output }
        fixture.send(Packets.frame(80))
        let written = outputs.reduce(0) { $0 + $1.buffers.reduce(0) { $0 + $1.readableBytes } }
        #expect(fixture.counters.bytes.load(ordering: .relaxed) == UInt64(written))
    }
}

extension ByteBuffer {
    /// The address of the bytes, equal for two buffers that share their storage.
    fileprivate var storage: UnsafeRawPointer? { withUnsafeReadableBytes { $0.baseAddress } }
}

@Suite("Bytes reported when a viewer leaves")
struct DeliveredBytesTests {
    private let fixture = FeedPartitionFixture()

    private func goOnAir() {
        fixture.send(Packets.metadata(), Packets.video(), Packets.audio(), Packets.key(0), Packets.audioFrame(10))
    }

    private func written(_ output: RecordingViewerOutput) -> Int {
        output.buffers.reduce(0) { $0 + $1.readableBytes }
    }

    private func reportedBytes(_ sid: String) -> Int? {
        fixture.audience.events.last { $0.sid == sid && $0.kind == .closed(.left) }?.bytes
    }

    @Test("are exact for viewers that joined before the media, that joined later, and that skipped")
    func exact() {
        let early = fixture.join(sid: "r-1")
        goOnAir()
        let late = fixture.join(.rtmp, sid: "r-2")
        let skipped = fixture.join(sid: "r-3")
        for time in 1...20 as ClosedRange<Int64> { fixture.send(Packets.frame(time * 40)) }
        skipped.viewer.updateWritability(false, now: fixture.now)
        fixture.wait(6)
        fixture.send(Packets.frame(840))
        #expect(skipped.viewer.state == .waiting)
        skipped.viewer.updateWritability(true, now: fixture.now)
        fixture.send(Packets.frame(880), Packets.key(920), Packets.audioFrame(930))
        #expect(skipped.viewer.state == .flowing)
        fixture.send(Packets.frame(960))
        // The bytes sent are available at any time; they show that a silent viewer is alive.
        for one in [early, late, skipped] {
            #expect(fixture.partition.sentBytes(by: one.viewer) == written(one.output))
        }
        for one in [early, late, skipped] { fixture.partition.remove(one.viewer, reason: .left, now: fixture.now) }
        #expect(reportedBytes("r-1") == written(early.output) && reportedBytes("r-2") == written(late.output))
        #expect(reportedBytes("r-3") == written(skipped.output))
        #expect(written(skipped.output) < written(early.output) && written(late.output) > 0)
    }

    @Test("exclude bytes still queued for the socket, and are zero for a viewer that received nothing")
    func waiting() {
        goOnAir()
        let held = fixture.join(sid: "r-1")
        held.output.block()
        fixture.send(Packets.frame(40), Packets.audioFrame(50))
        let waiting = held.output.pendingBytes
        #expect(waiting > 0 && fixture.partition.sentBytes(by: held.viewer) == written(held.output) - waiting)
        fixture.partition.remove(held.viewer, reason: .left, now: fixture.now)
        #expect(reportedBytes("r-1") == written(held.output) - waiting)
        let silent = FeedPartitionFixture()
        let viewer = silent.join(sid: "r-2").viewer
        silent.partition.remove(viewer, reason: .left, now: silent.now)
        #expect(silent.audience.events.last?.bytes == 0)
    }
}

@Suite("Viewer stalls")
struct ViewerStallTests {
    @Test(
        "records a stall when it ends, but no short ones and none before the first media"
    )
    func stalls() {
        let fixture = FeedPartitionFixture()
        let (early, _) = fixture.join(sid: "r-9")
        early.updateWritability(false, now: fixture.now)
        fixture.wait(2)
        early.updateWritability(true, now: fixture.now)
        fixture.send(Packets.video(), Packets.key(0))
        let (viewer, _) = fixture.join(sid: "r-1")
        for seconds in [0.2, 1.5, 0.4] {
            viewer.updateWritability(false, now: fixture.now)
            fixture.wait(seconds)
            viewer.updateWritability(true, now: fixture.now)
            fixture.wait(1)
        }
        let stalls = fixture.audience.events.filter { if case .stalled = $0.kind { true } else { false } }
        #expect(stalls.map(\.kind) == [.stalled(milliseconds: 1500)])
        #expect(stalls.map(\.sid) == ["r-1"] && stalls.map(\.playback) == [.flv])
    }
}
