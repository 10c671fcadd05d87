@testable import FanOut
import FootlightTesting
import Foundation
import Glibc
import Media
import NIOCore
import NIOPosix
import RTMP
import Synchronization
import TestSupport
import Testing

@Suite("Hundreds of simultaneous joins with some blocked players", .enabled(if: TestRun.isFull))
struct JoinStormTests {
    /// A host that sends a frame every 40 ms and a keyframe every second.
    private final class Camera: Sendable {
        private let isStopped = Atomic(false)
        private let hasEnded = DispatchSemaphore(value: 0)

        init(_ feed: Feed, bytes: Int) {
            for packet in [Packets.video(), Packets.key(0, bytes: bytes)] { feed.receive(packet) }
            Thread.detachNewThread {
                let start = MonotonicTime.now()
                var number: Int64 = 1
                while !self.isStopped.load(ordering: .relaxed) {
                    let due = start.advanced(milliseconds: number * 40)
                    Thread.sleep(forTimeInterval: max(0, due.seconds(since: .now())))
                    feed.receive(Packets.frame(number * 40, isKey: number % 25 == 0, bytes: bytes))
                    number += 1
                }
                self.hasEnded.signal()
            }
        }

        func stop() {
            isStopped.store(true, ordering: .relaxed)
            hasEnded.wait()
        }
    }

    /// A player that requests a stream and reads nothing, with a small receive buffer.
    private final class StalledPlayer: Sendable {
        private let channel: any Channel

        init(_ port: Int, stream: String, group: MultiThreadedEventLoopGroup) async throws {
            channel = try await ClientBootstrap(group: group)
                .channelOption(.socketOption(.so_rcvbuf), value: 4096)
                .channelOption(.autoRead, value: false)
                .connect(host: "127.0.0.1", port: port).get()
            var bytes = ByteBuffer(bytes: [3] + [UInt8](repeating: 0, count: 1536 + 1536))
            bytes.writeBytes(Self.commands(stream: stream))
            try await channel.writeAndFlush(bytes)
        }

        func close() async throws { try await channel.close() }

        /// Returns `connect`, `createStream` and `play`, each a message of one chunk.
        private static func commands(stream: String) -> [UInt8] {
            func text(_ text: String) -> [UInt8] { [2, 0, UInt8(text.utf8.count)] + text.utf8 }
            func number(_ value: Double) -> [UInt8] {
                [0] + withUnsafeBytes(of: value.bitPattern.bigEndian) { Array($0) }
            }
            func message(_ body: [UInt8], stream: UInt8) -> [UInt8] {
                [3, 0, 0, 0, 0, UInt8(body.count >> 8), UInt8(body.count & 0xFF), 20, stream, 0, 0, 0] + body
            }
            let application: [UInt8] = [3, 0, 3] + "app".utf8 + text("live") + [0, 0, 9]
            return message(text("connect") + number(1) + application, stream: 0)
                + message(text("createStream") + number(2) + [5], stream: 0)
                + message(text("play") + number(3) + [5] + text(stream), stream: 1)
        }
    }

    @Test("three hundred viewers join within a second, twenty read nothing: all start at a keyframe and miss no frame")
    func storm() async throws {
        // The reading players share one thread, which a busy machine may delay for seconds; a blocked player is
        // recognized by the time without progress.
        let configuration = FanOutConfiguration(
            slowViewerLimit: (.seconds(8), 4 << 20),
            deadViewerTime: .seconds(4)
        )
        try await withLoops(2) { group in
            let fixture = try await RTMPFixture(group, configuration: configuration, highWaterMark: 16 << 10)
            let players = MultiThreadedEventLoopGroup(numberOfThreads: 1)
            let feed = fixture.feeds.open("r")
            let camera = Camera(feed, bytes: 6_000)
            do {
                try await runStorm(fixture, feed, players)
            } catch {
                camera.stop()
                await fixture.server.shutdown()
                try await players.shutdownGracefully()
                throw error
            }
            camera.stop()
            await fixture.server.shutdown()
            try await players.shutdownGracefully()
        }
    }

    private func runStorm(_ fixture: RTMPFixture, _ feed: Feed, _ group: MultiThreadedEventLoopGroup) async throws {
        let early = (0..<4).map { _ in fixture.play("r", on: group) }
        #expect(try await eventually { early.allSatisfy { $0.got.count > 5 } })
        var stalledPlayers: [StalledPlayer] = []
        for _ in 0..<20 {
            stalledPlayers.append(try await StalledPlayer(fixture.server.port, stream: "r", group: group))
        }
        var crowd: [RTMPFixturePlayer] = []
        for _ in 0..<10 {
            crowd += (0..<30).map { _ in fixture.play("r", on: group) }
            try await Task.sleep(for: .milliseconds(100))
        }
        #expect(try await eventually { crowd.allSatisfy { $0.got.count > 2 } })
        // The blocked players fill their queues and are closed; their queued bytes are released.
        #expect(try await eventually { feed.activity.closedSlow == 20 })
        #expect(try await eventually { feed.activity.queuedBytes == 0 })
        #expect(fixture.feeds.load.viewers == 304)
        #expect(fixture.feeds.load.queuedBytes == 0)
        for player in crowd + early {
            let got = player.got
            #expect(player.end.isEmpty)
            #expect(got.first?.content == .videoConfiguration(.h264))
            #expect(got.dropFirst().first?.isKeyframe == true)
            // Every frame from the first on.
            let times = got.dropFirst().map(\.timestamp)
            #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == 40 })
        }
        for player in stalledPlayers { try await player.close() }
        for player in crowd + early { player.stop() }
        #expect(try await eventually { fixture.feeds.load.viewers == 0 })
    }
}
