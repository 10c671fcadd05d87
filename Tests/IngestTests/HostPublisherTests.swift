import FootlightTesting
import Logging
import Media
import NIOCore
import NIOPosix
import RTMP
import Stage
import Synchronization
import TestSupport
import Testing

@testable import Ingest

@Suite("Host publisher and the stage", .enabled(if: TestRun.isFull), .serialized)
struct HostPublisherTests {
    private let clock = ManualClock()
    private let stage: RoomDirectory
    private let losses = Losses()

    private final class Losses: Sendable {
        let codes = Mutex<[Int]>([])

        func record(_ event: StageEvent) {
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

    @Test("53405 reports a connection without media once, and the host leaves at 15 s")
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
        let observation = stage.observe { [losses] in losses.record($0) }
        defer { observation.cancel() }
        let publisher = publisher(grant)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        try await loop.submit {
            publisher.startMonitoring(on: loop)
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

    @Test("closes a host above twice the bit rate of its token")
    func bitrate() throws {
        let (_, grant) = try join(CallSettings(maximumBitrate: 100))
        let publisher = publisher(grant)
        let flood = MediaPacket(
            content: .audio(.mp3),
            timestamp: 0,
            body: ByteBuffer(repeating: 0, count: 60_000),
            headerLength: 1
        )
        #expect(throws: RTMPStatus.self) {
            for _ in 0..<10 { try publisher.receive(flood) }
        }
    }
}

@Suite("Bitrate monitor")
final class BitrateMonitorTests {
    private var monitor = BitrateMonitor(limit: 1_000)
    private var now = MonotonicTime(nanoseconds: 1_000_000_000)

    /// Sends at a rate in kb/s and returns the verdicts other than fine.
    private func send(kilobits: Int, seconds: Int) -> [BitrateMonitor.Verdict] {
        (0..<seconds * 10).compactMap { _ in
            let verdict = monitor.record(bytes: kilobits * 1_000 / 8 / 10, now: now)
            now = now.advanced(milliseconds: 100)
            return verdict == .fine ? nil : verdict
        }
    }

    @Test("reports nothing up to 1.5 times the limit", arguments: [1, 500, 1_000, 1_450])
    func fine(kilobits: Int) {
        #expect(send(kilobits: kilobits, seconds: 60).isEmpty)
    }

    @Test("warns once per ten seconds above 1.5 times the limit")
    func high() {
        let verdicts = send(kilobits: 1_700, seconds: 41)
        #expect(verdicts.count == 4)
        for verdict in verdicts {
            guard case .high(let kilobits) = verdict else {
                Issue.record("not a warning: \(verdict)")
                continue
            }
            #expect((1_690...1_730).contains(kilobits))
        }
    }

    @Test("reports too high above twice the limit")
    func tooHigh() {
        #expect(send(kilobits: 2_100, seconds: 11).contains { if case .tooHigh = $0 { true } else { false } })
    }

    @Test("tolerates a short peak")
    func peak() {
        #expect(send(kilobits: 6_000, seconds: 1).isEmpty)
        #expect(send(kilobits: 800, seconds: 30).isEmpty)
    }

    @Test("stops a flood before the end of the window")
    func flood() throws {
        let start = now
        while monitor.record(bytes: 125_000, now: now) == .fine { now = now.advanced(milliseconds: 10) }
        #expect(now.seconds(since: start) < 0.5)
    }
}
