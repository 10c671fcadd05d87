@testable import FanOut
import FootlightTesting
import Foundation
import Glibc
import Media
import NIOCore
import NIOPosix
import RTMP
import Synchronization
import Testing

@Suite("Hundreds who come at once, and some who take nothing, over real connections")
struct JoinStormTests {
    /// A host that sends a picture every 40 ms, a key picture every second.
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
                    feed.receive(Packets.picture(number * 40, isKey: number % 25 == 0, bytes: bytes))
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

    /// A player that asks and then reads nothing, with little room for what is sent to it.
    private final class DeafPlayer: Sendable {
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

        /// `connect`, `createStream` and `play`, each a message of one chunk.
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

    @Test("Three hundred join within a second, twenty read nothing: all see a key picture first and miss none after it")
    func storm() async throws {
        // Those who read share one thread, which a busy machine may hold up for seconds; who reads nothing is known by the
        // time that nothing was taken.
        let configuration = FanOutConfiguration(
            slowViewerLimit: (.seconds(8), 4 << 20),
            deadViewerTime: .seconds(4)
        )
        try await withLoops(2) { group in
            let stand = try await RTMPStand(group, configuration: configuration, highWaterMark: 16 << 10)
            let players = MultiThreadedEventLoopGroup(numberOfThreads: 1)
            let feed = stand.feeds.open("r")
            let camera = Camera(feed, bytes: 6_000)
            do {
                try await meet(stand, feed, players)
            } catch {
                camera.stop()
                await stand.server.shutdown()
                try await players.shutdownGracefully()
                throw error
            }
            camera.stop()
            await stand.server.shutdown()
            try await players.shutdownGracefully()
        }
    }

    private func meet(_ stand: RTMPStand, _ feed: Feed, _ group: MultiThreadedEventLoopGroup) async throws {
        let early = (0..<4).map { _ in stand.play("r", on: group) }
        #expect(try await eventually { early.allSatisfy { $0.got.count > 5 } })
        var deaf: [DeafPlayer] = []
        for _ in 0..<20 { deaf.append(try await DeafPlayer(stand.server.port, stream: "r", group: group)) }
        var crowd: [RTMPStandPlayer] = []
        for _ in 0..<10 {
            crowd += (0..<30).map { _ in stand.play("r", on: group) }
            try await Task.sleep(for: .milliseconds(100))
        }
        #expect(try await eventually { crowd.allSatisfy { $0.got.count > 2 } })
        // Those who read nothing fill what they are granted, and are gone; what waited for them is given back.
        #expect(try await eventually { feed.activity.closedSlow == 20 })
        #expect(try await eventually { feed.activity.queuedBytes == 0 })
        #expect(stand.feeds.load.viewers == 304)
        #expect(stand.feeds.load.queuedBytes == 0)
        for player in crowd + early {
            let got = player.got
            #expect(player.end.isEmpty)
            #expect(got.first?.content == .videoConfiguration(.h264))
            #expect(got.dropFirst().first?.isKeyPicture == true)
            // Every picture from the first on.
            let times = got.dropFirst().map(\.timestamp)
            #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == 40 })
        }
        for player in deaf { try await player.close() }
        for player in crowd + early { player.stop() }
        #expect(try await eventually { stand.feeds.load.viewers == 0 })
    }
}
