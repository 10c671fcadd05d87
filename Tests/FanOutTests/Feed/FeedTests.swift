@testable import FanOut
import FootlightTesting
import Media
import NIOCore
import NIOPosix
import Stage
import TestSupport
import Testing

@Suite("A feed over several event loops")
struct FeedTests {
    private static let noTick = FanOutConfiguration(tick: .zero)

    /// A configuration in which a single viewer is a large audience.
    private static func crowd(tick milliseconds: Int64) -> FanOutConfiguration {
        FanOutConfiguration(tick: .milliseconds(milliseconds), smallAudienceLimit: 0)
    }

    /// Adds a viewer on `loop`; use its output on that loop only.
    private func join(_ feed: Feed, on loop: any EventLoop) async throws -> NIOLoopBound<RecordingViewerOutput> {
        try await loop.submit {
            let output = RecordingViewerOutput()
            feed.partition(on: loop)?.add(
                FeedViewer(output: output, writer: output, wire: .flv, session: nil),
                now: .now()
            )
            return NIOLoopBound(output, eventLoop: loop)
        }.get()
    }

    private func tags(of output: NIOLoopBound<RecordingViewerOutput>, on loop: any EventLoop) async throws -> [String] {
        try await loop.submit { output.value.tags.map(\.description) }.get()
    }

    @Test("delivers every packet in order to viewers of all loops, whichever thread sends it")
    func order() async throws {
        try await withLoops(2) { group in
            let feed = Feed(name: "r", group: group, configuration: Self.noTick)
            let loops = Array(group.makeIterator())
            let outputs = [try await join(feed, on: loops[0]), try await join(feed, on: loops[1])]
            let program = Packets.program(seconds: 4)
            for packet in program.prefix(100) { feed.receive(packet) }
            try await loops[1].submit { for packet in program.dropFirst(100) { feed.receive(packet) } }.get()
            try await feed.settle(group)
            let expected =
                ["V0", "A0"]
                + program.dropFirst(2).map { packet in
                    (packet.isKeyframe ? "K" : packet.isVideo ? "p" : "s") + "\(packet.timestamp)"
                }
            for (loop, output) in zip(loops, outputs) { #expect(try await tags(of: output, on: loop) == expected) }
            #expect(feed.activity.packets == UInt64(program.count))
            #expect(feed.activity.viewers == 2)
        }
    }

    @Test("with a tick, sends gathered packets together and leaves none behind")
    func tick() async throws {
        try await withLoops(1) { group in
            let feed = Feed(name: "r", group: group, configuration: Self.crowd(tick: 60))
            let loop = group.next()
            let output = try await join(feed, on: loop)
            for packet in [Packets.video(), Packets.audio(), Packets.key(0)] { feed.receive(packet) }
            for number in 1...20 { feed.receive(Packets.audioFrame(Int64(number) * 20)) }
            try await feed.settle(group)
            #expect(try await tags(of: output, on: loop) == ["V0", "A0", "K0"])
            #expect(
                try await eventually { try await tags(of: output, on: loop).count == 23 }
            )
            #expect(try await loop.submit { output.value.flushes }.get() == 2)
        }
    }

    @Test("flushes frames in groups of three at a tick of three frames, without extra flushes")
    func frameGroups() async throws {
        try await withLoops(1) { group in
            let feed = Feed(name: "r", group: group, configuration: Self.crowd(tick: 100))
            let loop = group.next()
            let output = try await join(feed, on: loop)
            let begin = MonotonicTime.now()
            for number in 0..<36 {
                let due = begin.advanced(milliseconds: Int64(number) * 100 / 3)
                try await Task.sleep(for: .nanoseconds(max(0, due.nanoseconds - MonotonicTime.now().nanoseconds)))
                feed.receive(Packets.frame(Int64(number) * 100 / 3, isKey: number == 0))
            }
            #expect(
                try await eventually { try await tags(of: output, on: loop).count == 36 }
            )
            // A stalled machine may split a group; with one flush for each held frame there would be 16.
            #expect(try await loop.submit { output.value.flushes }.get() <= 14)
        }
    }

    @Test("sends each frame at once to a small audience, and uses the tick for a large one")
    func promptness() async throws {
        try await withLoops(1) { group in
            let configuration = FanOutConfiguration(tick: .seconds(10), smallAudienceLimit: 1)
            let feed = Feed(name: "r", group: group, configuration: configuration)
            let loop = group.next()
            let output = try await join(feed, on: loop)
            feed.receive(Packets.video())
            for number in 0..<3 {
                feed.receive(Packets.frame(Int64(number) * 40, isKey: number == 0))
                try await feed.settle(group)
                #expect(try await loop.submit { output.value.flushes }.get() == number + 1)
                try await Task.sleep(for: .milliseconds(40))
            }
            _ = try await join(feed, on: loop)
            feed.receive(Packets.frame(120))
            feed.receive(Packets.frame(160))
            try await feed.settle(group)
            #expect(try await loop.submit { output.value.flushes }.get() == 3)
        }
    }

    @Test("timestamps increase over a change of publisher, whatever the new one's start", arguments: [0, 9_000_000])
    func publisherChange(start: Int64) async throws {
        try await withLoops(2) { group in
            let feed = Feed(name: "r", group: group, configuration: Self.noTick)
            let sink = RecordingSink()
            feed.attach(sink)
            let first = feed.makePublisher()
            first.publisherChanged()
            for packet in Packets.program(from: 500_000, seconds: 2) { first.receive(packet) }
            let second = feed.makePublisher()
            second.publisherChanged()
            for packet in Packets.program(from: start, seconds: 2) { second.receive(packet) }
            try await feed.settle(group)
            let times = sink.packets.map(\.timestamp)
            #expect(times.first == 0)
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 })
            // Each publisher sends just under two seconds, and almost no time passes between them.
            #expect((3_900...4_500).contains(try #require(times.last)))
        }
    }

    @Test("drops packets of an older publisher after a newer one took over")
    func overtaken() async throws {
        try await withLoops(2) { group in
            let feed = Feed(name: "r", group: group, configuration: Self.noTick)
            let sink = RecordingSink()
            feed.attach(sink)
            let old = feed.makePublisher()
            let new = feed.makePublisher()
            new.receive(Packets.key(0))
            old.publisherChanged()
            old.receive(Packets.key(7_200_000))
            new.publisherChanged()
            old.receive(Packets.frame(7_200_040))
            new.receive(Packets.key(0))
            old.publisherChanged()
            old.receive(Packets.frame(7_200_080))
            new.receive(Packets.frame(40))
            try await feed.settle(group)
            #expect(sink.count == 3)
            #expect(sink.packets.map(\.isKeyframe) == [true, true, false])
            let times = sink.packets.map(\.timestamp)
            #expect(times[2] - times[1] == 40)
            #expect(times[2] < 1_000)
        }
    }

    @Test("a late sink receives headers and the current GOP first, and nothing after it is detached")
    func sinks() async throws {
        try await withLoops(2) { group in
            let feed = Feed(name: "r", group: group, configuration: Self.noTick)
            for packet in Packets.program(seconds: 2).dropLast() { feed.receive(packet) }
            let sink = RecordingSink()
            feed.attach(sink)
            feed.attach(sink)
            feed.receive(Packets.frame(2_000))
            try await feed.settle(group)
            let packets = sink.drain()
            #expect(
                packets.prefix(3).map(\.content) == [
                    .videoConfiguration(.h264), .audioConfiguration(.aac),
                    .video(.h264, isKey: true, isDisposable: false),
                ]
            )
            #expect(packets[2].timestamp == 1_000)
            #expect(packets.last?.timestamp == 2_000)
            #expect(packets.count { $0.timestamp == 2_000 } == 1)
            feed.detach(sink)
            feed.receive(Packets.frame(2_040))
            try await feed.settle(group)
            #expect(sink.count == 0)
        }
    }

    @Test("closing a feed closes the viewers of all loops, and the name can be opened again")
    func closing() async throws {
        try await withLoops(2) { group in
            let feeds = FeedDirectory(group: group, configuration: Self.noTick)
            let feed = feeds.open("r")
            #expect(feeds.open("r") === feed)
            let loops = Array(group.makeIterator())
            let outputs = [try await join(feed, on: loops[0]), try await join(feed, on: loops[1])]
            feeds.close("r", reason: .roomEnded)
            try await feed.settle(group)
            for (loop, output) in zip(loops, outputs) {
                #expect(try await loop.submit { output.value.ends }.get() == [.roomEnded])
            }
            #expect(feeds.feed("r") == nil)
            #expect(feeds.open("r") !== feed)
        }
    }

    @Test("a mixer receives audio before the first keyframe; a viewer starts with that keyframe")
    func lateKeyframe() async throws {
        try await withLoops(1) { group in
            let loop = group.next()
            for (feed, isForMixer) in [
                (Feed(name: "host", group: group, configuration: Self.noTick, tick: .zero), true),
                (Feed(name: "program", group: group, configuration: Self.noTick), false),
            ] {
                let early = try await join(feed, on: loop)
                for packet in [Packets.video(), Packets.audio(), Packets.frame(0)] { feed.receive(packet) }
                for number in 1...40 { feed.receive(Packets.audioFrame(Int64(number) * 20)) }
                try await feed.settle(group)
                // A later reader, such as the next mixer, receives the audio as well.
                let late = try await join(feed, on: loop)
                try await feed.settle(group)
                let audioTags = (1...40).map { "s\($0 * 20)" }
                for output in [early, late] {
                    #expect(try await tags(of: output, on: loop) == (isForMixer ? ["V20", "A20"] + audioTags : []))
                }
                feed.receive(Packets.key(820))
                try await feed.settle(group)
                for output in [early, late] { #expect(try await tags(of: output, on: loop).last == "K820") }
            }
        }
    }
}
