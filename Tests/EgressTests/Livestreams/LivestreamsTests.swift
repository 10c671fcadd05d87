import FootlightTesting
import Foundation
import Media
import Stage
import Synchronization
import TestSupport
import Testing

@testable import Egress

@Suite("A room's livestream", .enabled(if: TestRun.isFull), .serialized)
struct LivestreamsTests {
    /// Feeds that remember who is attached; a test sends packets to them by hand or by a broadcast.
    private final class Feeds: ProgramFeeding {
        let sinks = Mutex<[any PacketSink]>([])
        /// What decoders need first; whoever is attached later gets it then, as from a real feed.
        let configuration = Mutex<[MediaPacket]>([])

        func attach(_ sink: any PacketSink, room: String) {
            sinks.withLock { $0.append(sink) }
            for packet in configuration.withLock({ $0 }) { sink.receive(packet) }
        }

        func detach(_ sink: any PacketSink, room: String) {
            sinks.withLock { $0.removeAll { $0 === sink } }
        }

        /// Outputs, not what measures beside them.
        var count: Int { sinks.withLock { $0.count { $0 is RTMPPush } } }
    }

    /// Passes packets to whoever is attached at the moment.
    private final class Relay: PacketSink {
        private let feeds: Feeds

        init(_ feeds: Feeds) {
            self.feeds = feeds
        }

        func receive(_ packet: MediaPacket) {
            if packet.isConfiguration { feeds.configuration.withLock { $0.append(packet) } }
            for sink in feeds.sinks.withLock({ $0 }) { sink.receive(packet) }
        }
    }

    private let feeds = Feeds()
    private let received = Latch<[LivestreamStatus]>([])
    private let faults = Latch<[Int]>([])
    private let warnings = Latch<[LivestreamWarning]>([])

    private func livestreams(
        startLimit: Double = 30,
        maximumLivestreams: Int = 100,
        clock: any MonotonicClock = SystemClock()
    ) -> Livestreams {
        let warnings = warnings
        let received = received
        let faults = faults
        return Livestreams(
            feeds: feeds,
            policy: TargetPolicy(allowsPrivateAddresses: true),
            configuration: PushFixture.quick,
            startLimit: startLimit,
            maximumLivestreams: maximumLivestreams,
            clock: clock,
            onFault: { _, error in faults.update { $0.append(error.code) } },
            onWarning: { _, warning in warnings.update { $0.append(warning) } },
            onChange: { _, status in received.update { $0.append(status) } }
        )
    }

    private func wait(seconds: Double = 20, _ isWanted: @Sendable (LivestreamStatus) -> Bool) -> LivestreamStatus? {
        received.wait(until: .now().advanced(seconds: seconds)) { $0.last(where: isWanted) }
    }

    @Test("V22 D33 it starts, takes and loses outputs, and stops, and says so in order")
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
        #expect(throws: StageError.livestreamInFlight) {
            try livestreams.start(room: "R", targets: [OutputTarget(name: "x", url: nginx.url, streamKey: "k")])
        }
        let started = try #require(wait { $0.state == .started })
        #expect(throws: StageError.livestreamAlreadyStarted) {
            try livestreams.start(room: "R", targets: [OutputTarget(name: "x", url: nginx.url, streamKey: "k")])
        }
        #expect(started.startedAt != nil)
        #expect(started.outputs.map { $0.state } == [.connected])
        #expect(started.outputs.map { $0.maskedStreamKey } == ["****-one"])

        try livestreams.add([OutputTarget(name: "two", url: nginx.url, streamKey: "key-number-two")], room: "R")
        #expect(wait { $0.outputs.map { $0.state } == [.connected, .connected] } != nil)
        #expect(feeds.count == 2)
        // Of several at once all are looked at first; with one that cannot be used none is added.
        for (name, url) in [("bad", "http://127.0.0.1/live"), ("two", nginx.url), ("three", nginx.url)] {
            let targets = [
                OutputTarget(name: "three", url: nginx.url, streamKey: "key-number-three"),
                OutputTarget(name: name, url: url, streamKey: "k"),
            ]
            let refused = #expect(throws: StageError.self) { try livestreams.add(targets, room: "R") }
            #expect(refused?.code == 4015, "\(name)")
            #expect(feeds.count == 2 && livestreams.status(room: "R").outputs.count == 2)
        }
        try livestreams.remove(output: "one", room: "R")
        #expect(feeds.count == 1)
        #expect(livestreams.status(room: "R").outputs.map { $0.name } == ["two"])
        let last = #expect(throws: StageError.self) { try livestreams.remove(output: "two", room: "R") }
        #expect(last?.code == 4015)
        #expect(last?.status == 409)
        #expect(last?.solution.hasPrefix("Stop the livestream instead") == true)
        let warned = warnings.wait(until: .now().advanced(seconds: 20)) { $0.first }
        #expect(warned?.reason == .lastOutput)
        #expect(warned?.output == "two")
        #expect(warned?.code == 4015)

        try livestreams.stop(room: "R")
        #expect(feeds.count == 0)
        let stopped = try #require(wait { $0.state == .stopped })
        #expect(stopped.outputs.map { $0.state } == [.stopped])
        #expect(stopped.endReason == .command)
        let states = received.update(wakes: false) { $0.map { $0.state } }
        let order: [LivestreamStatus.State] = [.starting, .started, .stopping, .stopped]
        #expect(states.map { order.firstIndex(of: $0) ?? -1 } == states.map { order.firstIndex(of: $0) ?? -1 }.sorted())
        #expect(states.contains(.stopping))
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
                targets: [OutputTarget(name: "one", url: "rtmp://127.0.0.1:9/live", streamKey: "key")],
                options: LivestreamOptions()
            )
        }
        #expect(error?.code == 4015)
        #expect(livestreams.status(room: "R") == LivestreamStatus())
        #expect(feeds.count == 0)
    }

    @Test("V22 4015: outputs that cannot be used are refused before anything runs")
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

    @Test("an output that must be public is refused a private address although others may have one")
    func mustBePublic() {
        let livestreams = livestreams()
        defer { livestreams.shutdown() }
        var target = OutputTarget(name: "a", url: "rtmp://127.0.0.1/live", streamKey: "k")
        target.mustBePublic = true
        let error = #expect(throws: StageError.self) { try livestreams.start(room: "R", targets: [target]) }
        #expect(error?.code == 4015)
        target.url = "rtmp://example.org/live"
        target.backupURL = "rtmp://10.0.0.1/live"
        #expect(throws: StageError.self) { try livestreams.start(room: "R", targets: [target]) }
        #expect(feeds.count == 0)
    }

    @Test("what a platform does not want is told with the answer to the start, and as a warning")
    func unsuitable() throws {
        let livestreams = livestreams()
        defer { livestreams.shutdown() }
        let port = try Port.free()
        var target = OutputTarget(name: "fb", url: "rtmp://live-api.facebook.com:\(port)/rtmp/", streamKey: "k")
        target.figures = StreamProperties(ProgramConfiguration(videoBitrate: 9000, keyInterval: 6))
        try livestreams.start(room: "R", targets: [target])
        let received = livestreams.status(room: "R").warnings
        #expect(received.map(\.reason) == [.streamUnsuitable])
        let message = received.first?.message ?? ""
        for word in ["fb", "rtmps://", "9000 kb/s", "6.0 s"] { #expect(message.contains(word), "\(message)") }
        #expect(message.hasSuffix("(\(PlatformRules.rules(for: .facebook).citation))"), "\(message)")
        #expect(warnings.wait(until: .now().advanced(seconds: 20)) { $0.first } == received.first)
        try livestreams.stop(room: "R")
        #expect(livestreams.status(room: "R").warnings.isEmpty)
    }

    @Test("what the spare address's platform does not want is told before the stream begins, too")
    func unsuitableSpare() throws {
        let livestreams = livestreams()
        defer { livestreams.shutdown() }
        let port = try Port.free()
        var target = OutputTarget(name: "yt", url: "rtmps://a.rtmps.youtube.com:\(port)/live2", streamKey: "k")
        target.backupURL = "rtmp://live-api.facebook.com:\(port)/rtmp/"
        target.figures = StreamProperties(ProgramConfiguration(videoBitrate: 5000))
        try livestreams.start(room: "R", targets: [target])
        let received = livestreams.status(room: "R").warnings.filter { $0.reason == .streamUnsuitable }
        #expect(received.count == 1 && received.first?.output == "yt")
        let message = received.first?.message ?? ""
        for word in ["spare address", "rtmps:// only", "5000 kb/s", "developers.facebook.com", "as of April 2026"] {
            #expect(message.contains(word), "\(message)")
        }
        let warned = warnings.wait(until: .now().advanced(seconds: 20)) { $0.first }
        #expect(warned == received.first)
        try livestreams.stop(room: "R")
    }

    @Test("an output goes over to its spare address when its first one dies, and says so")
    func spare() throws {
        let (first, second) = (try Nginx(), try Nginx())
        try first.start()
        try second.start()
        let sample = try Sample.shared.get()
        let livestreams = livestreams()
        defer { livestreams.shutdown() }
        let broadcast = Broadcast(sample.packets, to: [Relay(feeds)])
        defer { broadcast.end() }
        var target = OutputTarget(name: "one", url: first.url, streamKey: "key-of-first")
        target.backupURL = second.url
        target.backupStreamKey = "key-of-second"
        try livestreams.start(room: "R", targets: [target])
        let before = try #require(wait { $0.outputs.first?.state == .connected })
        #expect(before.outputs.first?.usesBackup == false)
        first.kill()
        let after = try #require(wait { $0.outputs.first.map { $0.state == .connected && $0.usesBackup } == true })
        #expect(after.outputs.first?.maskedStreamKey == "****cond")
        let reasons = warnings.wait(until: .now().advanced(seconds: 20)) { $0.count >= 2 ? $0.map(\.reason) : nil }
        #expect(reasons == [.outputInterrupted, .outputOnBackup])
        usleep(1_600_000)
        try livestreams.stop(room: "R")
        _ = wait { $0.state == .stopped }
        // A session of its own: from 0, with headers and a keyframe first.
        var recorded = try FLVFile.read(second.recording("key-of-second"))
        var frames: [MediaPacket] { recorded.filter { if case .video = $0.content { true } else { false } } }
        // The server writes in its own time.
        let deadline = MonotonicTime.now().advanced(seconds: 20)
        while frames.count <= 20, .now() < deadline {
            usleep(100_000)
            recorded = try FLVFile.read(second.recording("key-of-second"))
        }
        #expect(frames.first?.isKeyframe == true)
        #expect((frames.first?.timestamp ?? -1) < 100)
        #expect(frames.count > 20)
        #expect(recorded.prefix { !$0.isKeyframe }.contains { $0.content == .videoConfiguration(.h264) })
        #expect(zip(recorded, recorded.dropFirst()).allSatisfy { $0.timestamp <= $1.timestamp })
    }

    @Test("V22 one that cannot connect in its time stops by itself with 4013")
    func neverStarted() throws {
        let port = try Port.free()
        let livestreams = livestreams(startLimit: 0.5)
        defer { livestreams.shutdown() }
        try livestreams.start(
            room: "R",
            targets: [OutputTarget(name: "a", url: "rtmp://127.0.0.1:\(port)/live", streamKey: "k")]
        )
        #expect(wait { $0.state == .stopped } != nil)
        #expect(faults.wait(until: .now().advanced(seconds: 20)) { $0.first } == 4013)
    }

    @Test("4030 a gateway at its limit of livestreams takes no other room, and takes it once one has stopped")
    func limit() throws {
        let port = try Port.free()
        let target = OutputTarget(name: "a", url: "rtmp://127.0.0.1:\(port)/live", streamKey: "k")
        let livestreams = livestreams(maximumLivestreams: 1)
        defer { livestreams.shutdown() }
        try livestreams.start(room: "R", targets: [target])
        #expect(throws: StageError.livestreamLimitReached) { try livestreams.start(room: "S", targets: [target]) }
        try livestreams.stop(room: "R")
        #expect(wait { $0.state == .stopped } != nil)
        try livestreams.start(room: "S", targets: [target])
        #expect(livestreams.status(room: "S").state == .starting)
    }

    @Test("D36 options out of their range are refused before anything runs")
    func options() {
        let livestreams = livestreams()
        defer { livestreams.shutdown() }
        let target = OutputTarget(name: "a", url: "rtmp://127.0.0.1/live", streamKey: "k")
        let error = #expect(throws: StageError.self) {
            try livestreams.start(room: "R", targets: [target], options: LivestreamOptions(maximumDuration: 0))
        }
        #expect(error?.code == 3073)
        #expect(livestreams.status(room: "R") == LivestreamStatus())
    }

    @Test("D34 an output whose target goes away is named in a warning, and the other goes on")
    func oneLost() throws {
        let (stays, goes) = (try Nginx(), try Nginx())
        try stays.start()
        try goes.start()
        let sample = try Sample.shared.get()
        let livestreams = livestreams()
        defer { livestreams.shutdown() }
        let broadcast = Broadcast(sample.packets, to: [Relay(feeds)])
        defer { broadcast.end() }
        try livestreams.start(
            room: "R",
            targets: [
                OutputTarget(name: "stays", url: stays.url, streamKey: "key-one"),
                OutputTarget(name: "goes", url: goes.url, streamKey: "key-two"),
            ]
        )
        #expect(wait { $0.outputs.map { $0.state } == [.connected, .connected] } != nil)
        goes.kill()
        let warned = warnings.wait(until: .now().advanced(seconds: 20)) { $0.first }
        #expect(warned?.output == "goes")
        #expect(warned?.reason == .outputInterrupted)
        let status = livestreams.status(room: "R")
        #expect(status.state == .started)
        #expect(status.outputs.first?.state == .connected)
        #expect(faults.update(wakes: false) { $0 } == [])
    }

    @Test("D36 it stops by itself after its longest duration, or when every host is muted for too long")
    func limits() throws {
        let nginx = try Nginx()
        try nginx.start()
        let sample = try Sample.shared.get()
        let clock = ManualClock()
        let livestreams = livestreams(clock: clock)
        defer { livestreams.shutdown() }
        let broadcast = Broadcast(sample.packets, to: [Relay(feeds)])
        defer { broadcast.end() }
        let target = OutputTarget(name: "a", url: nginx.url, streamKey: "key")

        try livestreams.start(room: "R", targets: [target], options: LivestreamOptions(maximumDuration: 600))
        #expect(wait { $0.state == .started } != nil)
        clock.advance(by: .seconds(541))
        let warned = warnings.wait(until: .now().advanced(seconds: 20)) { $0.first }
        #expect(warned?.reason == .maximumDurationSoon)
        #expect(warned?.secondsLeft == 59)
        clock.advance(by: .seconds(59))
        #expect(wait { $0.state == .stopped }?.endReason == .maximumDuration)

        received.update { $0 = [] }
        livestreams.hostsMuted(room: "R", true)
        try livestreams.start(room: "R", targets: [target])
        #expect(wait { $0.state == .started } != nil)
        clock.advance(by: .seconds(200))
        livestreams.hostsMuted(room: "R", false)
        livestreams.hostsMuted(room: "R", true)
        clock.advance(by: .seconds(299))
        usleep(700_000)
        #expect(livestreams.status(room: "R").state == .started)
        clock.advance(by: .seconds(1))
        #expect(wait { $0.state == .stopped }?.endReason == .idle)
        #expect(faults.update(wakes: false) { $0 } == [])
    }
}
