import FootlightTesting
import Logging
import Media
import NIOCore
import NIOPosix
import RTMP
import Stage
import Synchronization
import Testing

@testable import Ingest

@Suite("What the stage is told of one connection", .serialized)
struct HostPublisherTests {
    private let clock = ManualClock()
    private let stage: RoomDirectory
    private let losses = Losses()

    private final class Losses: Sendable {
        let codes = Mutex<[Int]>([])

        func note(_ event: StageEvent) {
            if case .participantReconnecting(_, let error) = event.payload { codes.withLock { $0.append(error.code) } }
        }
    }

    init() throws {
        stage = RoomDirectory(clock: clock, pepper: [1], startedAt: 1_000)
        _ = try stage.create(RoomSettings(name: "show"))
    }

    private func join(_ settings: CallSettings = CallSettings()) throws -> (JoinResult, PublishGrant) {
        let request = JoinRequest(identity: "anna", mode: .sendAndReceive, callSettings: settings)
        let joined = try stage.join(room: "show", request)
        return (joined, try stage.authorizePublish(streamKey: #require(joined.credentials).streamKey).get())
    }

    private func publisher(_ grant: PublishGrant) -> HostPublisher {
        _ = stage.publishBegan(grant, connection: 1)
        return HostPublisher(
            grant: grant,
            connection: 1,
            stage: stage,
            feed: RecordingSink(),
            counters: IngestCounters(),
            configuration: IngestConfiguration(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) {}
    }

    @Test("53405 a connection that sends a configuration and no picture is missed once, and its host gone at 15 s")
    func silent() async throws {
        let (joined, grant) = try join()
        try stage.heartbeat(room: "show", participant: "anna", sessionID: joined.sessionID)
        _ = try stage.publishTrack(room: "show", participant: "anna", name: .camera)
        let own = try stage.subscribe(
            room: "show",
            after: nil,
            participant: "anna",
            sessionID: joined.sessionID
        )
        let observation = stage.observe { [losses] in losses.note($0) }
        defer { observation.cancel() }
        let publisher = publisher(grant)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        try await loop.submit {
            publisher.startWatching(on: loop)
            try publisher.receive(AVCRecord().packet)
        }.get()
        #expect(losses.codes.withLock { $0 }.isEmpty)
        try await Task.sleep(for: .seconds(1))
        #expect(losses.codes.withLock { $0 }.isEmpty)
        #expect(try await eventually { losses.codes.withLock { $0 } == [53405] })
        try await Task.sleep(for: .seconds(1))
        try await loop.submit { publisher.ended(.shutdown) }.get()
        #expect(losses.codes.withLock { $0 } == [53405])
        _ = stage.publishBegan(grant, connection: 2)
        clock.advance(by: .seconds(14.9))
        try stage.heartbeat(room: "show", participant: "anna", sessionID: joined.sessionID)
        stage.sweep()
        #expect(try stage.room("show").counts.hosts == 1)
        clock.advance(by: .seconds(0.1))
        stage.sweep()
        #expect(try stage.room("show").counts.hosts == 0)
        var last: StageError?
        own.cancel()
        for await event in own.events {
            if case .sessionDisconnected(let error) = event.payload { last = error }
        }
        #expect(last?.code == 53405)
    }

    @Test("A host whose token allows less than the gateway is closed above twice of that")
    func bitrate() throws {
        let (_, grant) = try join(CallSettings(maximumBitrate: 100))
        let publisher = publisher(grant)
        let flood = MediaPacket(
            content: .sound(.mp3),
            timestamp: 0,
            body: ByteBuffer(repeating: 0, count: 60_000),
            headerLength: 1
        )
        #expect(throws: RTMPStatus.self) {
            for _ in 0..<10 { try publisher.receive(flood) }
        }
    }
}
