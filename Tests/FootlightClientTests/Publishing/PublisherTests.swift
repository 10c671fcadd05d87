import FootlightClient
import Media
import RTMP
import Stage
import TestSupport
import Testing

@MainActor
@Suite("The RTMP publisher over bad connections", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(1)))
struct PublisherTests {
    private func publisher(
        to port: Int,
        key: String = "sk_key",
        _ settings: PublisherSettings = PublisherSettings()
    ) -> RTMPPublisher {
        RTMPPublisher(url: "rtmp://127.0.0.1:\(port)/live", streamKey: key, settings: settings)
    }

    /// A clock on which a second of media takes a third of a second, and connections carry three times as much.
    private let quick = ClientClock.system.running(3)

    /// The publisher's reports.
    private func log(_ publisher: RTMPPublisher) -> StatisticsLog {
        StatisticsLog(publisher)
    }

    /// A source that runs until its task is cancelled.
    private func run(_ source: PatternMediaSource, on publisher: RTMPPublisher) -> Task<Void, any Error> {
        Task { try await publisher.publish(from: source) }
    }

    @Test("Packets arrive in order, statistics count them, and a stop ends the stream regularly")
    func arrives() async throws {
        let server = try await ReceivingRTMPServer.start(key: "sk_key")
        let publisher = publisher(to: server.port)
        let log = log(publisher)
        #expect(publisher.currentStatistics.state == .idle)
        let source = run(PatternMediaSource(clock: quick), on: publisher)
        #expect(try await soon { server.receivedStreams.first?.packets.count ?? 0 > 100 })
        source.cancel()
        await publisher.stop()
        let numbers = publisher.currentStatistics
        #expect(numbers.state == .ended(nil) && numbers.reconnects == 0 && numbers.dropped.total == 0)
        #expect(numbers.bytesSent > 20_000 && numbers.queueMilliseconds == 0)
        #expect(try await soon { server.receivedStreams.first?.end == .deletedStream })
        let packets = try #require(server.receivedStreams.first).packets
        #expect(packets.count == Int(numbers.packetsSent))
        #expect(packets.prefix(3).map(\.isConfiguration) == [true, true, true])
        #expect(packets.first { $0.isVideo && !$0.isConfiguration }?.isKeyframe == true)
        #expect(packets.map(\.timestamp) == packets.map(\.timestamp).sorted())
        #expect(try await soon { log.states.last == .ended(nil) })
        #expect(log.states == [.idle, .connecting, .publishing, .ended(nil)])
        await server.stop()
    }

    @Test("A throttled connection first drops disposable frames, then frames up to a keyframe, and never audio")
    func choked() async throws {
        let server = try await ReceivingRTMPServer.start(key: "sk_key")
        let proxy = try FaultProxy(to: server.port)
        var settings = PublisherSettings()
        settings.reportInterval = .milliseconds(10)
        let publisher = publisher(to: proxy.port, settings)
        let log = log(publisher)
        let source = run(PatternMediaSource(columns: 20, rows: 10, clock: quick), on: publisher)
        #expect(try await soon { server.receivedStreams.first?.packets.count ?? 0 > 60 })
        #expect(publisher.currentStatistics.dropped.total == 0)
        proxy.mode = .slow(bytesPerSecond: 60_000)
        #expect(try await soon { publisher.currentStatistics.dropped.referenceFrames > 3 })
        proxy.mode = .pass
        #expect(try await soon { publisher.currentStatistics.queueMilliseconds < 100 })
        try await Task.sleep(for: .milliseconds(500))
        source.cancel()
        await publisher.stop()

        let dropped = publisher.currentStatistics.dropped
        #expect(dropped.disposableFrames > 0 && dropped.audioFrames == 0 && dropped.configurations == 0)
        #expect(
            log.all.contains { $0.dropped.disposableFrames > 0 && $0.dropped.referenceFrames == 0 },
            "disposable frames are dropped first"
        )
        let deepest = log.all.map(\.queueMilliseconds).max() ?? 0
        #expect((700...3500).contains(deepest))
        let packets = try #require(server.receivedStreams.first).packets
        let audioPackets = packets.filter { $0.content == .audio(.aac) }.map(\.timestamp)
        #expect(
            zip(audioPackets, audioPackets.dropFirst()).allSatisfy { (21...22).contains($1 - $0) },
            "the audio is whole"
        )
        // After each gap larger than one disposable frame follows a keyframe.
        let frames = packets.filter { if case .video = $0.content { true } else { false } }
        for (before, after) in zip(frames, frames.dropFirst()) where after.timestamp - before.timestamp > 140 {
            #expect(after.isKeyframe)
        }
        #expect(server.receivedStreams.count == 1 && publisher.currentStatistics.reconnects == 0)
        await server.stop()
    }

    @Test("A lost connection is restored with the same key, configuration and a keyframe, on the same clock")
    func cut() async throws {
        let server = try await ReceivingRTMPServer.start(key: "sk_key")
        let proxy = try FaultProxy(to: server.port)
        let publisher = publisher(to: proxy.port)
        let log = log(publisher)
        let source = run(PatternMediaSource(clock: quick), on: publisher)
        #expect(try await soon { server.receivedStreams.first?.packets.count ?? 0 > 60 })
        proxy.mode = .cut
        #expect(try await soon { log.states.last != .publishing })
        try await Task.sleep(for: .milliseconds(300))
        proxy.mode = .pass
        #expect(
            try await soon {
                server.receivedStreams.last?.packets.count ?? 0 > 60 && server.receivedStreams.count > 1
            }
        )
        source.cancel()
        await publisher.stop()
        #expect(server.receivedStreams.map(\.key) == ["sk_key", "sk_key"])
        let (first, second) = (server.receivedStreams[0].packets, server.receivedStreams[1].packets)
        #expect(second.prefix(3).map(\.content) == [.metadata, .videoConfiguration(.h264), .audioConfiguration(.aac)])
        #expect(second.first { $0.isVideo && !$0.isConfiguration }?.isKeyframe == true)
        let last = try #require(first.last?.timestamp)
        #expect(second.allSatisfy { $0.timestamp > last })
        let numbers = publisher.currentStatistics
        #expect(numbers.reconnects == 1 && numbers.missed > 0 && numbers.dropped.audioFrames == 0)
        #expect(try await soon { log.states.last == .ended(nil) })
        #expect(log.states.contains(.reconnecting(attempt: 1)))
        #expect(log.states.suffix(2) == [.publishing, .ended(nil)])
        await server.stop()
    }

    @Test("A connection that does not even carry audio is abandoned and replaced")
    func maximumBacklog() async throws {
        let server = try await ReceivingRTMPServer.start(key: "sk_key")
        let proxy = try FaultProxy(to: server.port)
        var settings = PublisherSettings()
        settings.maximumBacklog = 1200
        let publisher = publisher(to: proxy.port, settings)
        let log = log(publisher)
        let source = run(PatternMediaSource(columns: 20, rows: 10, clock: quick), on: publisher)
        #expect(try await soon { server.receivedStreams.first?.packets.count ?? 0 > 60 })
        proxy.mode = .blackHole
        #expect(try await soon(within: .seconds(12)) { log.states.contains(.reconnecting(attempt: 1)) })
        #expect(publisher.currentStatistics.queueMilliseconds == 0, "the past is not sent")
        proxy.mode = .pass
        #expect(try await soon { server.receivedStreams.count == 2 && server.receivedStreams[1].packets.count > 60 })
        source.cancel()
        await publisher.stop()
        #expect(server.receivedStreams.count == 2 && publisher.currentStatistics.reconnects == 1)
        #expect(publisher.currentStatistics.dropped.audioFrames == 0 && publisher.currentStatistics.missed > 0)
        await server.stop()
    }

    @Test("A refused key is not retried; an unreachable server is, until the timeout")
    func refused() async throws {
        let server = try await ReceivingRTMPServer.start(key: "sk_key")
        let outsider = publisher(to: server.port, key: "sk_other")
        let log = log(outsider)
        outsider.start()
        #expect(try await soon { if case .ended(.some) = log.states.last { true } else { false } })
        guard case .ended(let error) = log.states.last else { return }
        #expect(error?.code == 53405 && error?.isRetryable == false)
        #expect(error?.cause.contains("No such key.") == true)
        #expect(server.receivedStreams.count == 1)
        let port = server.port
        await server.stop()

        var settings = PublisherSettings()
        settings.giveUpAfter = .milliseconds(400)
        let hopeful = publisher(to: port, settings)
        let other = self.log(hopeful)
        hopeful.start()
        #expect(
            try await soon { if case .ended(.some) = other.states.last { true } else { false } }
        )
        #expect(other.states.contains(.reconnecting(attempt: 2)))
        guard case .ended(let loss) = other.states.last else { return }
        #expect(loss?.code == 53405 && loss?.isRetryable == true)
    }
}
