@testable import FanOut
import FootlightTesting
import Media
import NIOCore
import NIOPosix
import Stage
import Testing

@Suite("A feed over several event loops")
struct FeedTests {
    private static let noTick = FanOutConfiguration(tick: .zero)

    /// Already one viewer is a crowd.
    private static func crowd(tick milliseconds: Int64) -> FanOutConfiguration {
        FanOutConfiguration(tick: .milliseconds(milliseconds), promptAudience: 0)
    }

    /// A viewer on `loop`; its output may be touched there only.
    private func join(_ feed: Feed, on loop: any EventLoop) async throws -> NIOLoopBound<RecordingOutput> {
        try await loop.submit {
            let output = RecordingOutput()
            feed.share(on: loop)?.add(Viewer(output: output, writer: output, wire: .flv, session: nil), now: .now())
            return NIOLoopBound(output, eventLoop: loop)
        }.get()
    }

    private func tags(of output: NIOLoopBound<RecordingOutput>, on loop: any EventLoop) async throws -> [String] {
        try await loop.submit { output.value.tags.map(\.description) }.get()
    }

    @Test("Viewers of every loop get everything in order, whichever thread it comes from")
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
                    (packet.isKeyPicture ? "K" : packet.isVideo ? "p" : "s") + "\(packet.timestamp)"
                }
            for (loop, output) in zip(loops, outputs) { #expect(try await tags(of: output, on: loop) == expected) }
            #expect(feed.activity.packets == UInt64(program.count))
            #expect(feed.activity.viewers == 2)
        }
    }

    @Test("With a tick, what gathers leaves together, and nothing stays behind")
    func tick() async throws {
        try await withLoops(1) { group in
            let feed = Feed(name: "r", group: group, configuration: Self.crowd(tick: 60))
            let loop = group.next()
            let output = try await join(feed, on: loop)
            for packet in [Packets.video(), Packets.audio(), Packets.key(0)] { feed.receive(packet) }
            for number in 1...20 { feed.receive(Packets.sound(Int64(number) * 20)) }
            try await feed.settle(group)
            #expect(try await tags(of: output, on: loop) == ["V0", "A0", "K0"])
            #expect(
                try await eventually { try await tags(of: output, on: loop).count == 23 }
            )
            #expect(try await loop.submit { output.value.flushes }.get() == 2)
        }
    }

    @Test("Pictures leave three by three at a tick of three pictures: what waited for one flush makes no second one")
    func pictureGroups() async throws {
        try await withLoops(1) { group in
            let feed = Feed(name: "r", group: group, configuration: Self.crowd(tick: 100))
            let loop = group.next()
            let output = try await join(feed, on: loop)
            let begin = MonotonicTime.now()
            for number in 0..<36 {
                let due = begin.advanced(milliseconds: Int64(number) * 100 / 3)
                try await Task.sleep(for: .nanoseconds(max(0, due.nanoseconds - MonotonicTime.now().nanoseconds)))
                feed.receive(Packets.picture(Int64(number) * 100 / 3, isKey: number == 0))
            }
            #expect(
                try await eventually { try await tags(of: output, on: loop).count == 36 }
            )
            // A machine that stalls may part a group; with a flush for each picture that was ever held there are 16.
            #expect(try await loop.submit { output.value.flushes }.get() <= 14)
        }
    }

    @Test("A small audience has each picture at once, whatever the tick; a crowd has the tick")
    func promptness() async throws {
        try await withLoops(1) { group in
            let configuration = FanOutConfiguration(tick: .seconds(10), promptAudience: 1)
            let feed = Feed(name: "r", group: group, configuration: configuration)
            let loop = group.next()
            let output = try await join(feed, on: loop)
            feed.receive(Packets.video())
            for number in 0..<3 {
                feed.receive(Packets.picture(Int64(number) * 40, isKey: number == 0))
                try await feed.settle(group)
                #expect(try await loop.submit { output.value.flushes }.get() == number + 1)
                try await Task.sleep(for: .milliseconds(40))
            }
            _ = try await join(feed, on: loop)
            feed.receive(Packets.picture(120))
            feed.receive(Packets.picture(160))
            try await feed.settle(group)
            #expect(try await loop.submit { output.value.flushes }.get() == 3)
        }
    }

    @Test("Timestamps rise over a change of publisher, however the new one's clock begins", arguments: [0, 9_000_000])
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
            // Each lasts just under two seconds, and next to no time passes between them.
            #expect((3_900...4_500).contains(try #require(times.last)))
        }
    }

    @Test("What an older publisher still sends after a newer one took over never enters the feed")
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
            old.receive(Packets.picture(7_200_040))
            new.receive(Packets.key(0))
            old.publisherChanged()
            old.receive(Packets.picture(7_200_080))
            new.receive(Packets.picture(40))
            try await feed.settle(group)
            #expect(sink.count == 3)
            #expect(sink.packets.map(\.isKeyPicture) == [true, true, false])
            let times = sink.packets.map(\.timestamp)
            #expect(times[2] - times[1] == 40)
            #expect(times[2] < 1_000)
        }
    }

    @Test("A sink that is attached late gets headers and the present group first, and nothing once it is detached")
    func sinks() async throws {
        try await withLoops(2) { group in
            let feed = Feed(name: "r", group: group, configuration: Self.noTick)
            for packet in Packets.program(seconds: 2).dropLast() { feed.receive(packet) }
            let sink = RecordingSink()
            feed.attach(sink)
            feed.attach(sink)
            feed.receive(Packets.picture(2_000))
            try await feed.settle(group)
            let packets = sink.drain()
            #expect(
                packets.prefix(3).map(\.content) == [
                    .videoConfiguration(.h264), .audioConfiguration(.aac),
                    .picture(.h264, isKey: true, isDisposable: false),
                ]
            )
            #expect(packets[2].timestamp == 1_000)
            #expect(packets.last?.timestamp == 2_000)
            #expect(packets.count { $0.timestamp == 2_000 } == 1)
            feed.detach(sink)
            feed.receive(Packets.picture(2_040))
            try await feed.settle(group)
            #expect(sink.count == 0)
        }
    }

    @Test("A feed that is closed ends the viewers of all loops, and its name can be opened anew")
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

    @Test("The reader of a host's feed has sound before the first keyframe; an audience begins with that keyframe")
    func lateKeyframe() async throws {
        try await withLoops(1) { group in
            let loop = group.next()
            for (feed, isForMixer) in [
                (Feed(name: "host", group: group, configuration: Self.noTick, tick: .zero), true),
                (Feed(name: "program", group: group, configuration: Self.noTick), false),
            ] {
                let early = try await join(feed, on: loop)
                for packet in [Packets.video(), Packets.audio(), Packets.picture(0)] { feed.receive(packet) }
                for number in 1...40 { feed.receive(Packets.sound(Int64(number) * 20)) }
                try await feed.settle(group)
                // One who comes later, as the next mixer does, hears what there is as well.
                let late = try await join(feed, on: loop)
                try await feed.settle(group)
                let heard = (1...40).map { "s\($0 * 20)" }
                for output in [early, late] {
                    #expect(try await tags(of: output, on: loop) == (isForMixer ? ["V20", "A20"] + heard : []))
                }
                feed.receive(Packets.key(820))
                try await feed.settle(group)
                for output in [early, late] { #expect(try await tags(of: output, on: loop).last == "K820") }
            }
        }
    }
}
