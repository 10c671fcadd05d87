import FootlightClient
import FootlightTesting
import Media
import RTMP
import Stage
import Testing

@MainActor
@Suite("A publisher and the line below it", .serialized, .timeLimit(.minutes(1)))
struct PublisherTests {
    private func publisher(
        to port: Int,
        key: String = "sk_key",
        _ settings: PublisherSettings = PublisherSettings()
    ) -> RTMPPublisher {
        RTMPPublisher(url: "rtmp://127.0.0.1:\(port)/live", streamKey: key, settings: settings)
    }

    /// On it a second of media is made in a third of one, and lines carry three times what they would.
    private let quick = ClientClock.system.running(3)

    /// What a publisher reported up to now and from now on.
    private func log(_ publisher: RTMPPublisher) -> StatisticsLog {
        StatisticsLog(publisher)
    }

    /// A source that runs until its task is cancelled.
    private func run(_ source: PatternMediaSource, on publisher: RTMPPublisher) -> Task<Void, any Error> {
        Task { try await publisher.publish(from: source) }
    }

    @Test("Everything arrives in order, the numbers say so, and a stop is a farewell")
    func arrives() async throws {
        let server = try await ReceivingServer.start(key: "sk_key")
        let publisher = publisher(to: server.port)
        let log = log(publisher)
        #expect(publisher.currentStatistics.state == .idle)
        let source = run(PatternMediaSource(clock: quick), on: publisher)
        #expect(try await soon { server.visits.first?.packets.count ?? 0 > 100 })
        source.cancel()
        await publisher.stop()
        let numbers = publisher.currentStatistics
        #expect(numbers.state == .ended(nil) && numbers.reconnects == 0 && numbers.dropped.total == 0)
        #expect(numbers.bytesSent > 20_000 && numbers.queueMilliseconds == 0)
        #expect(try await soon { server.visits.first?.end == .deletedStream })
        let packets = try #require(server.visits.first).packets
        #expect(packets.count == Int(numbers.packetsSent))
        #expect(packets.prefix(3).map(\.isConfiguration) == [true, true, true])
        #expect(packets.first { $0.isVideo && !$0.isConfiguration }?.isKeyPicture == true)
        #expect(packets.map(\.timestamp) == packets.map(\.timestamp).sorted())
        #expect(try await soon { log.states.last == .ended(nil) })
        #expect(log.states == [.idle, .connecting, .publishing, .ended(nil)])
        await server.stop()
    }

    @Test("A choked line loses disposable pictures first, then pictures up to a key picture, and never sound")
    func choked() async throws {
        let server = try await ReceivingServer.start(key: "sk_key")
        let proxy = try FaultProxy(to: server.port)
        var settings = PublisherSettings()
        settings.reportInterval = .milliseconds(10)
        let publisher = publisher(to: proxy.port, settings)
        let log = log(publisher)
        let source = run(PatternMediaSource(columns: 20, rows: 10, clock: quick), on: publisher)
        #expect(try await soon { server.visits.first?.packets.count ?? 0 > 60 })
        #expect(publisher.currentStatistics.dropped.total == 0)
        proxy.mode = .slow(bytesPerSecond: 60_000)
        #expect(try await soon { publisher.currentStatistics.dropped.pictures > 3 })
        proxy.mode = .pass
        #expect(try await soon { publisher.currentStatistics.queueMilliseconds < 100 })
        try await Task.sleep(for: .milliseconds(500))
        source.cancel()
        await publisher.stop()

        let dropped = publisher.currentStatistics.dropped
        #expect(dropped.disposablePictures > 0 && dropped.sounds == 0 && dropped.configurations == 0)
        #expect(
            log.all.contains { $0.dropped.disposablePictures > 0 && $0.dropped.pictures == 0 },
            "disposable pictures went first"
        )
        let deepest = log.all.map(\.queueMilliseconds).max() ?? 0
        #expect((700...3500).contains(deepest))
        let packets = try #require(server.visits.first).packets
        let sounds = packets.filter { $0.content == .sound(.aac) }.map(\.timestamp)
        #expect(zip(sounds, sounds.dropFirst()).allSatisfy { (21...22).contains($1 - $0) }, "the sound is whole")
        // Behind each gap larger than one disposable picture stands a key picture.
        let pictures = packets.filter { if case .picture = $0.content { true } else { false } }
        for (before, after) in zip(pictures, pictures.dropFirst()) where after.timestamp - before.timestamp > 140 {
            #expect(after.isKeyPicture)
        }
        #expect(server.visits.count == 1 && publisher.currentStatistics.reconnects == 0)
        await server.stop()
    }

    @Test("A cut line comes back with the same key, its configuration and a key picture, on the same clock")
    func cut() async throws {
        let server = try await ReceivingServer.start(key: "sk_key")
        let proxy = try FaultProxy(to: server.port)
        let publisher = publisher(to: proxy.port)
        let log = log(publisher)
        let source = run(PatternMediaSource(clock: quick), on: publisher)
        #expect(try await soon { server.visits.first?.packets.count ?? 0 > 60 })
        proxy.mode = .cut
        #expect(try await soon { log.states.last != .publishing })
        try await Task.sleep(for: .milliseconds(300))
        proxy.mode = .pass
        #expect(
            try await soon {
                server.visits.last?.packets.count ?? 0 > 60 && server.visits.count > 1
            }
        )
        source.cancel()
        await publisher.stop()
        #expect(server.visits.map(\.key) == ["sk_key", "sk_key"])
        let (first, second) = (server.visits[0].packets, server.visits[1].packets)
        #expect(second.prefix(3).map(\.content) == [.metadata, .videoConfiguration(.h264), .audioConfiguration(.aac)])
        #expect(second.first { $0.isVideo && !$0.isConfiguration }?.isKeyPicture == true)
        let last = try #require(first.last?.timestamp)
        #expect(second.allSatisfy { $0.timestamp > last })
        let numbers = publisher.currentStatistics
        #expect(numbers.reconnects == 1 && numbers.missed > 0 && numbers.dropped.sounds == 0)
        #expect(try await soon { log.states.last == .ended(nil) })
        #expect(log.states.contains(.reconnecting(attempt: 1)))
        #expect(log.states.suffix(2) == [.publishing, .ended(nil)])
        await server.stop()
    }

    @Test("A line that carries not even the sound is given up, and made anew when it does")
    func hopeless() async throws {
        let server = try await ReceivingServer.start(key: "sk_key")
        let proxy = try FaultProxy(to: server.port)
        var settings = PublisherSettings()
        settings.hopeless = 1200
        let publisher = publisher(to: proxy.port, settings)
        let log = log(publisher)
        let source = run(PatternMediaSource(columns: 20, rows: 10, clock: quick), on: publisher)
        #expect(try await soon { server.visits.first?.packets.count ?? 0 > 60 })
        proxy.mode = .blackHole
        #expect(try await soon(within: .seconds(12)) { log.states.contains(.reconnecting(attempt: 1)) })
        #expect(publisher.currentStatistics.queueMilliseconds == 0, "the past is not sent")
        proxy.mode = .pass
        #expect(try await soon { server.visits.count == 2 && server.visits[1].packets.count > 60 })
        source.cancel()
        await publisher.stop()
        #expect(server.visits.count == 2 && publisher.currentStatistics.reconnects == 1)
        #expect(publisher.currentStatistics.dropped.sounds == 0 && publisher.currentStatistics.missed > 0)
        await server.stop()
    }

    @Test("A refused key is not tried again; a server that is not there is, until patience ends")
    func refused() async throws {
        let server = try await ReceivingServer.start(key: "sk_key")
        let stranger = publisher(to: server.port, key: "sk_other")
        let log = log(stranger)
        stranger.start()
        #expect(try await soon { if case .ended(.some) = log.states.last { true } else { false } })
        guard case .ended(let error) = log.states.last else { return }
        #expect(error?.code == 53405 && error?.isRetryable == false)
        #expect(error?.cause.contains("No such key.") == true)
        #expect(server.visits.count == 1)
        let port = server.port
        await server.stop()

        var settings = PublisherSettings()
        settings.patience = .milliseconds(400)
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
