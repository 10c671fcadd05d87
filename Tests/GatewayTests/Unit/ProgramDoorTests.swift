import FanOut
import FootlightTesting
@testable import Gateway
import Logging
import Media
import NIOCore
import NIOPosix
import RTMP
import Stage
import Synchronization
import Testing

@Suite("Where a program enters", .serialized)
struct ProgramDoorTests {
    /// Takes the epoch from the query, as the token would say it.
    private struct Doors: RTMPServerDelegate {
        let door: ProgramDoor

        func publish(_ request: PublishRequest, on connection: RTMPConnection) -> EventLoopFuture<PublishVerdict> {
            let epoch = request.query["epoch"].flatMap { UInt64($0) } ?? 0
            return connection.eventLoop.makeSucceededFuture(
                door.publish(room: request.name, epoch: epoch, on: connection)
            )
        }

        func play(_ request: PlayRequest, on connection: RTMPConnection) -> EventLoopFuture<PlayVerdict> {
            connection.eventLoop.makeSucceededFuture(.refuse(.playFailed("publishers only")))
        }
    }

    @Test("A higher epoch takes over, a lower one is refused, and the program's time only rises")
    func epochs() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let feeds = FeedDirectory(group: group, configuration: FanOutConfiguration())
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let changes = Mutex<[Bool]>([])
        let door = ProgramDoor(feeds: feeds, logger: logger) { room, isOnAir in
            if room == "show" { changes.withLock { $0.append(isOnAir) } }
        }
        let server = try await RTMPServer.start(host: "127.0.0.1", port: 0, group: group, delegate: Doors(door: door))
        let folder = try TemporaryFolder("program-door")
        var picture = HostPicture(.blue)
        (picture.width, picture.height) = (160, 90)
        try await FFmpeg.encode(HostScript(picture: picture, sound: nil), seconds: 3, to: folder.file("p.flv"))
        func publish(epoch: Int) throws -> ChildProcess {
            try FFmpeg.host(file: folder.file("p.flv"), to: "rtmp://127.0.0.1:\(server.port)/live/show?epoch=\(epoch)")
        }

        // Before the room is there, and after it is gone, nobody publishes.
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

        // The epoch stays when its publisher is gone: an older one cannot come back in between.
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
        door.close(room: "show")
        #expect(changes.withLock { $0.last == false })
        #expect(try await third.wait(.seconds(20)) != nil)
        await server.shutdown()
        try await group.shutdownGracefully()
    }

    @Test("A newer mixer's program ends what an older one publishes beside it, which it may not publish again")
    func renditions() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let feeds = FeedDirectory(group: group, configuration: FanOutConfiguration())
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let door = ProgramDoor(feeds: feeds, logger: logger) { _, _ in }
        let server = try await RTMPServer.start(host: "127.0.0.1", port: 0, group: group, delegate: Doors(door: door))
        let folder = try TemporaryFolder("program-door")
        var picture = HostPicture(.blue)
        (picture.width, picture.height) = (160, 90)
        try await FFmpeg.encode(HostScript(picture: picture, sound: nil), seconds: 3, to: folder.file("p.flv"))
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

        door.close(room: "show")
        for publisher in [program, newer] { #expect(try await publisher.wait(.seconds(20)) != nil) }
        #expect(other.isRunning)
        other.end()
        await server.shutdown()
        try await group.shutdownGracefully()
    }
}
