import FanOut
@testable import Gateway
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

@Suite("Ingest of programs", .enabled(if: TestRun.isFull), .serialized)
struct ProgramIngestTests {
    /// A delegate that reads the epoch from the query in place of the token.
    private struct IngestDelegate: RTMPServerDelegate {
        let ingest: ProgramIngest

        func publish(_ request: PublishRequest, on connection: RTMPConnection) -> EventLoopFuture<PublishVerdict> {
            let epoch = request.query["epoch"].flatMap { UInt64($0) } ?? 0
            return connection.eventLoop.makeSucceededFuture(
                ingest.publish(room: request.name, epoch: epoch, on: connection)
            )
        }

        func play(_ request: PlayRequest, on connection: RTMPConnection) -> EventLoopFuture<PlayVerdict> {
            connection.eventLoop.makeSucceededFuture(.refuse(.playFailed("publishers only")))
        }
    }

    @Test("a higher epoch replaces the publisher, a lower one is refused, and timestamps never decrease")
    func epochs() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let feeds = FeedDirectory(group: group, configuration: FanOutConfiguration())
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let changes = Mutex<[Bool]>([])
        let ingest = ProgramIngest(feeds: feeds, logger: logger) { room, isOnAir in
            if room == "show" { changes.withLock { $0.append(isOnAir) } }
        }
        let delegate = IngestDelegate(ingest: ingest)
        let server = try await RTMPServer.start(host: "127.0.0.1", port: 0, group: group, delegate: delegate)
        let folder = try TemporaryFolder("program-door")
        var video = HostVideoScript(.blue)
        (video.width, video.height) = (160, 90)
        try await FFmpeg.encode(HostScript(video: video, audio: nil), seconds: 3, to: folder.file("p.flv"))
        func publish(epoch: Int) throws -> ChildProcess {
            try FFmpeg.host(file: folder.file("p.flv"), to: "rtmp://127.0.0.1:\(server.port)/live/show?epoch=\(epoch)")
        }

        // Without a room a publish is refused.
        let early = try publish(epoch: 1)
        #expect(try await early.wait(.seconds(20)) != nil)
        #expect(early.standardError.contains("the room has ended"))

        let sink = RecordingSink()
        feeds.open("show").attach(sink)
        let first = try publish(epoch: 5)
        #expect(try await eventually { sink.count > 15 })

        let lower = try publish(epoch: 4)
        #expect(try await lower.wait(.seconds(20)) != nil)
        #expect(lower.standardError.contains("a newer mixer"))
        #expect(first.isRunning)

        let second = try publish(epoch: 6)
        #expect(try await first.wait(.seconds(20)) != nil)
        let count = sink.count
        #expect(try await eventually { sink.count > count + 15 })

        // The epoch stays after the publisher has disconnected, so that an older mixer is refused.
        #expect(changes.withLock { $0.allSatisfy(\.self) && !$0.isEmpty })
        second.end()
        #expect(try await eventually { changes.withLock { $0.last == false } })
        let older = try publish(epoch: 5)
        #expect(try await older.wait(.seconds(20)) != nil)
        #expect(older.standardError.contains("a newer mixer"))

        let third = try publish(epoch: 7)
        let before = sink.count
        #expect(try await eventually { sink.count > before + 15 })
        let times = sink.packets.map(\.timestamp)
        #expect(times.first == 0)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 })

        #expect(changes.withLock { $0.last == true })
        ingest.close(room: "show")
        #expect(changes.withLock { $0.last == false })
        #expect(try await third.wait(.seconds(20)) != nil)
        await server.shutdown()
        try await group.shutdownGracefully()
    }

    @Test("a newer mixer's program disconnects the older mixer's renditions for good")
    func renditions() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let feeds = FeedDirectory(group: group, configuration: FanOutConfiguration())
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let ingest = ProgramIngest(feeds: feeds, logger: logger) { _, _ in }
        let delegate = IngestDelegate(ingest: ingest)
        let server = try await RTMPServer.start(host: "127.0.0.1", port: 0, group: group, delegate: delegate)
        let folder = try TemporaryFolder("program-door")
        var video = HostVideoScript(.blue)
        (video.width, video.height) = (160, 90)
        try await FFmpeg.encode(HostScript(video: video, audio: nil), seconds: 3, to: folder.file("p.flv"))
        let small = RenditionFeedName(room: "show", rendition: "180p").text
        func publish(_ name: String, epoch: Int) throws -> ChildProcess {
            let url = "rtmp://127.0.0.1:\(server.port)/live/\(name)?epoch=\(epoch)"
            return try FFmpeg.host(file: folder.file("p.flv"), to: url)
        }
        let sinks = ["show": RecordingSink(), small: RecordingSink(), "other": RecordingSink()]
        for (name, sink) in sinks { feeds.open(name).attach(sink) }
        func flows(_ name: String) async throws -> Bool {
            let count = sinks[name]?.count ?? 0
            return try await eventually { (sinks[name]?.count ?? 0) > count + 15 }
        }

        let old = [try publish("show", epoch: 5), try publish(small, epoch: 5)]
        let other = try publish("other", epoch: 4)
        for name in sinks.keys { #expect(try await flows(name)) }
        let program = try publish("show", epoch: 6)
        for publisher in old { #expect(try await publisher.wait(.seconds(20)) != nil) }
        let older = try publish(small, epoch: 5)
        #expect(try await older.wait(.seconds(20)) != nil)
        #expect(older.standardError.contains("a newer mixer"))
        let newer = try publish(small, epoch: 6)
        #expect(try await flows(small))
        #expect(other.isRunning && program.isRunning && newer.isRunning)

        ingest.close(room: "show")
        for publisher in [program, newer] { #expect(try await publisher.wait(.seconds(20)) != nil) }
        #expect(other.isRunning)
        other.end()
        await server.shutdown()
        try await group.shutdownGracefully()
    }
}
