import Foundation
import Media
import Stage
import Synchronization
import Testing

@testable import Egress

@Suite("A room's livestream", .serialized)
struct LivestreamsTests {
    /// Feeds that remember who is attached; a test sends packets to them by hand or by a broadcast.
    private final class Feeds: ProgramFeeding {
        let sinks = Mutex<[any PacketSink]>([])

        func attach(_ sink: any PacketSink, room: String) {
            sinks.withLock { $0.append(sink) }
        }

        func detach(_ sink: any PacketSink, room: String) {
            sinks.withLock { $0.removeAll { $0 === sink } }
        }

        var count: Int { sinks.withLock { $0.count } }
    }

    /// Passes packets to whoever is attached at the moment.
    private final class Relay: PacketSink {
        private let feeds: Feeds

        init(_ feeds: Feeds) {
            self.feeds = feeds
        }

        func receive(_ packet: MediaPacket) {
            for sink in feeds.sinks.withLock({ $0 }) { sink.receive(packet) }
        }
    }

    private let feeds = Feeds()
    private let heard = Latch<[LivestreamStatus]>([])
    private let faults = Latch<[Int]>([])

    private func livestreams(startLimit: Double = 30) -> Livestreams {
        let heard = heard
        let faults = faults
        return Livestreams(
            feeds: feeds,
            policy: TargetPolicy(allowsPrivateAddresses: true),
            configuration: PushFixture.quick,
            startLimit: startLimit,
            onFault: { _, error in faults.update { $0.append(error.code) } },
            onChange: { _, status in heard.update { $0.append(status) } }
        )
    }

    private func wait(seconds: Double = 5, _ isWanted: @Sendable (LivestreamStatus) -> Bool) -> LivestreamStatus? {
        heard.wait(until: .now().advanced(seconds: seconds)) { $0.last(where: isWanted) }
    }

    @Test("it starts, takes and loses outputs, and stops, and says so in order")
    func life() throws {
        let nginx = try Nginx()
        try nginx.start()
        let sample = try Sample.shared.get()
        let livestreams = livestreams()
        defer { livestreams.shutdown() }
        let broadcast = Broadcast(sample.packets, to: [Relay(feeds)])
        defer { broadcast.end() }

        try livestreams.start(
            room: "R",
            targets: [OutputTarget(name: "one", url: nginx.url, streamKey: "key-number-one")]
        )
        #expect(throws: StageError.livestreamAlreadyStarted) {
            try livestreams.start(room: "R", targets: [OutputTarget(name: "x", url: nginx.url, streamKey: "k")])
        }
        let started = try #require(wait { $0.state == .started })
        #expect(started.startedAt != nil)
        #expect(started.outputs.map { $0.state } == [.connected])
        #expect(started.outputs.map { $0.maskedStreamKey } == ["****-one"])

        try livestreams.add(OutputTarget(name: "two", url: nginx.url, streamKey: "key-number-two"), room: "R")
        #expect(wait { $0.outputs.map { $0.state } == [.connected, .connected] } != nil)
        #expect(feeds.count == 2)
        try livestreams.remove(output: "one", room: "R")
        #expect(feeds.count == 1)
        #expect(livestreams.status(room: "R").outputs.map { $0.name } == ["two"])
        let last = #expect(throws: StageError.self) { try livestreams.remove(output: "two", room: "R") }
        #expect(last?.code == 4015)
        #expect(last?.status == 409)

        try livestreams.stop(room: "R")
        #expect(feeds.count == 0)
        let stopped = try #require(wait { $0.state == .stopped })
        #expect(stopped.outputs.map { $0.state } == [.stopped])
        let states = heard.update(wakes: false) { $0.map { $0.state } }
        let order: [LivestreamStatus.State] = [.starting, .started, .stopping, .stopped]
        #expect(states.map { order.firstIndex(of: $0) ?? -1 } == states.map { order.firstIndex(of: $0) ?? -1 }.sorted())
        #expect(throws: StageError.livestreamNotRunning) { try livestreams.stop(room: "R") }
        try livestreams.start(
            room: "R",
            targets: [OutputTarget(name: "one", url: nginx.url, streamKey: "key-number-one")]
        )
        livestreams.roomEnded("R")
        usleep(700_000)
        #expect(livestreams.status(room: "R") == LivestreamStatus())
    }

    @Test("the gateway's own listeners are refused as outputs, from when they are known")
    func own() throws {
        let livestreams = livestreams()
        defer { livestreams.shutdown() }
        livestreams.refuse(ownPort: 9)
        let error = #expect(throws: StageError.self) {
            try livestreams.start(
                room: "R",
                targets: [OutputTarget(name: "one", url: "rtmp://127.0.0.1:9/live", streamKey: "key")]
            )
        }
        #expect(error?.code == 4015)
        #expect(livestreams.status(room: "R") == LivestreamStatus())
        #expect(feeds.count == 0)
    }

    @Test("outputs that cannot be used are refused before anything runs")
    func invalid() {
        let livestreams = livestreams()
        defer { livestreams.shutdown() }
        let bad: [[OutputTarget]] = [
            [],
            [OutputTarget(name: "a b", url: "rtmp://127.0.0.1/live", streamKey: "k")],
            [OutputTarget(name: "a", url: "http://127.0.0.1/live", streamKey: "k")],
            [OutputTarget(name: "a", url: "rtmp://127.0.0.1/live", streamKey: "")],
            [
                OutputTarget(name: "a", url: "rtmp://127.0.0.1/live", streamKey: "k"),
                OutputTarget(name: "a", url: "rtmp://127.0.0.1/live", streamKey: "l"),
            ],
        ]
        for targets in bad {
            let error = #expect(throws: StageError.self) { try livestreams.start(room: "R", targets: targets) }
            #expect(error?.code == 4015)
        }
        #expect(feeds.count == 0)
        #expect(livestreams.status(room: "R").state == .stopped)
    }

    @Test("one that cannot connect in its time stops by itself with 4013")
    func neverStarted() throws {
        let port = try Port.free()
        let livestreams = livestreams(startLimit: 0.5)
        defer { livestreams.shutdown() }
        try livestreams.start(
            room: "R",
            targets: [OutputTarget(name: "a", url: "rtmp://127.0.0.1:\(port)/live", streamKey: "k")]
        )
        #expect(wait { $0.state == .stopped } != nil)
        #expect(faults.wait(until: .now().advanced(seconds: 1)) { $0.first } == 4013)
    }

    @Test("when every output has failed a running livestream stops with a fault")
    func lost() {
        var progress = LivestreamProgress(now: MonotonicTime(nanoseconds: 0), startLimit: 30)
        let now = MonotonicTime(nanoseconds: 1_000_000_000)
        #expect(progress.look(outputs: [.connecting, .failed], now: now, secondsSince1970: 5) == nil)
        #expect(progress.state == .starting)
        #expect(progress.look(outputs: [.connected, .failed], now: now, secondsSince1970: 7) == nil)
        #expect(progress.state == .started)
        #expect(progress.startedAt == 7)
        #expect(progress.look(outputs: [.interrupted, .failed], now: now, secondsSince1970: 9) == nil)
        #expect(progress.look(outputs: [.failed, .failed], now: now, secondsSince1970: 9) == .lost)
        #expect(progress.state == .stopping)
        progress.ended()
        #expect(progress.state == .stopped)
    }
}
