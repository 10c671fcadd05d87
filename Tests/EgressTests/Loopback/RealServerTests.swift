import Foundation
import Media
import NIOCore
import Stage
import TestSupport
import Testing

@testable import Egress

@Suite("A push against a real RTMP server", .enabled(if: TestRun.isFull), .serialized)
struct RealServerTests {
    private let sample: Sample

    init() throws {
        sample = try Sample.shared.get()
    }

    @Test("the server's recording holds the very frames that were pushed, from time 0", arguments: [0, 0.2])
    func recording(gathering: Double) throws {
        let nginx = try Nginx()
        try nginx.start()
        var configuration = PushFixture.quick
        configuration.gathering = gathering
        let fixture = try PushFixture("main", url: nginx.url, key: "key-recording", configuration: configuration)
        let broadcast = Broadcast(sample.packets, to: [fixture.push], rounds: 1)
        let connected = try #require(fixture.waitFor(.connected))
        #expect(connected.reconnects == 0)
        broadcast.waitForEnd(seconds: 8)
        // What is still being gathered goes out before the end.
        if gathering == 0 { usleep(200_000) }
        #expect(fixture.end() < 1)
        #expect(fixture.push.status.state == .stopped)
        #expect(fixture.history.map { $0.state } == [.connecting, .connected, .stopped])

        usleep(200_000)
        let file = nginx.recording("key-recording")
        let frames = try Sample.hashes(of: file)
        #expect(frames == sample.frames)
        let packets = try FLVFile.read(file)
        Self.expectRising(packets)
        // Audio from before the first keyframe is not sent.
        let pushedAudio = sample.packets.filter { $0.content == .audio(.aac) }.map { $0.body }
        let audioPackets = packets.filter { $0.content == .audio(.aac) }.map { $0.body }
        let isTail = pushedAudio.suffix(audioPackets.count).elementsEqual(audioPackets)
        #expect(isTail)
        #expect(audioPackets.count >= pushedAudio.count - 1)
        #expect(fixture.push.status.droppedFrames == 0)
        let pushed = sample.packets.reduce(0) { $0 + $1.body.readableBytes }
        #expect(Int(fixture.push.status.bytesSent) > pushed)
        let bitrate = Double(pushed) * 8 / 6_000_000
        print("push: \(fixture.push.cpuSeconds * 1000 / 6) CPU-ms a second at \(bitrate) Mb/s")
        print("slowest receive: \(broadcast.slowestReceive * 1000) ms")
        #expect(broadcast.slowestReceive < 0.1)
    }

    @Test("gathered packets go out in lots, and none waits for longer than it may")
    func gathering() throws {
        let nginx = try Nginx()
        try nginx.start()
        var configuration = PushFixture.quick
        configuration.gathering = 0.2
        let fixture = try PushFixture("lots", url: nginx.url, key: "key-lots", configuration: configuration)
        let broadcast = Broadcast(sample.packets, to: [fixture.push])
        defer { broadcast.end() }
        _ = try #require(fixture.waitFor(.connected))
        let start = MonotonicTime.now()
        var (lots, longest) = (0, 0.0)
        var (last, lastAt) = (fixture.push.status.bytesSent, start)
        while MonotonicTime.now().seconds(since: start) < 3 {
            usleep(2000)
            let sent = fixture.push.status.bytesSent
            guard sent != last else { continue }
            let now = MonotonicTime.now()
            longest = max(longest, now.seconds(since: lastAt))
            (last, lastAt) = (sent, now)
            lots += 1
        }
        // Fifteen lots, a few more when many bytes come at once, where there would have been 90 frames.
        #expect((10...30).contains(lots))
        #expect(longest < 0.35)
        #expect(fixture.push.status.droppedFrames == 0)
    }

    @Test("the metadata reaches players of the server")
    func metadata() throws {
        let nginx = try Nginx(publishing: "meta copy;")
        try nginx.start()
        let fixture = try PushFixture("meta", url: nginx.url, key: "key-meta")
        let broadcast = Broadcast(sample.packets, to: [fixture.push])
        defer { broadcast.end() }
        _ = try #require(fixture.waitFor(.connected))
        let file = nginx.folder.path("played.flv")
        // It plays until it is told to end, and calls that a failure.
        let play = ["-s", "INT", "-k", "1", "2", "rtmpdump", "-q", "--live", "-r", "\(nginx.url)/key-meta", "-o", file]
        _ = try? Tool.run("timeout", play)
        let played = try #require(try FLVFile.read(file).first { $0.content == .metadata })
        let bytes = String(decoding: played.body.readableBytesView, as: UTF8.self)
        #expect(bytes.contains("onMetaData"))
        #expect(bytes.contains("videodatarate"))
        #expect(bytes.contains("Lavf"))
    }

    @Test("a server that refuses connections and then appears is found")
    func refused() throws {
        let nginx = try Nginx()
        let fixture = try PushFixture("late", url: nginx.url, key: "key-late")
        let broadcast = Broadcast(sample.packets, to: [fixture.push])
        defer { broadcast.end() }
        let refused = try #require(fixture.wait { $0.lastError != nil })
        #expect(refused.state == .connecting)
        #expect(refused.lastError?.contains("refused") == true)
        #expect(refused.lastFault?.code == .unreachable && refused.lastFault?.retry == .soon)
        try nginx.start()
        #expect(fixture.waitFor(.connected) != nil)
    }

    @Test("a server that is killed and started again gets the stream back, at a keyframe and time 0")
    func killed() throws {
        let nginx = try Nginx()
        try nginx.start()
        let fixture = try PushFixture("back", url: nginx.url, key: "key-back")
        let broadcast = Broadcast(sample.packets, to: [fixture.push])
        defer { broadcast.end() }
        _ = try #require(fixture.waitFor(.connected))
        nginx.kill()
        let interrupted = try #require(fixture.waitFor(.interrupted))
        #expect(interrupted.lastError != nil)
        usleep(500_000)
        try nginx.start()
        let again = try #require(fixture.wait { $0.state == .connected && $0.reconnects == 1 })
        #expect(again.droppedFrames == 0)
        usleep(1_500_000)
        fixture.end()
        usleep(200_000)
        let packets = try FLVFile.read(nginx.recording("key-back"))
        #expect(packets.first { $0.isVideo && !$0.isConfiguration }?.isKeyframe == true)
        #expect(packets.filter { $0.isKeyframe }.count > 1)
        Self.expectRising(packets)
    }

    @Test("a server that stops reading is noticed, the queue stays bounded, and the stream comes back")
    func frozen() throws {
        let nginx = try Nginx()
        try nginx.start()
        let fixture = try PushFixture("frozen", url: nginx.url, key: "key-frozen", configuration: Self.tight)
        let broadcast = Broadcast(sample.packets, to: [fixture.push])
        defer { broadcast.end() }
        _ = try #require(fixture.waitFor(.connected))
        nginx.freeze()
        let interrupted = try #require(fixture.waitFor(.interrupted, seconds: 6))
        #expect(interrupted.lastError != nil)
        #expect(interrupted.droppedFrames > 0)
        #expect(fixture.push.backlog.bytes < 2 << 20)
        nginx.thaw()
        #expect(fixture.wait { $0.state == .connected && $0.reconnects >= 1 } != nil)
        print("frozen: slowest receive \(broadcast.slowestReceive * 1000) ms, \(interrupted)")
        #expect(broadcast.slowestReceive < 0.1)
    }

    @Test("a stalled output takes nothing from another one")
    func isolation() throws {
        let bad = try Nginx()
        let good = try Nginx()
        try bad.start()
        try good.start()
        let stalled = try PushFixture("stalled", url: bad.url, key: "key-bad", configuration: Self.tight)
        let healthy = try PushFixture("healthy", url: good.url, key: "key-good")
        let broadcast = Broadcast(sample.packets, to: [stalled.push, healthy.push], rounds: 1)
        _ = try #require(stalled.waitFor(.connected))
        bad.freeze()
        broadcast.waitForEnd(seconds: 8)
        usleep(200_000)
        #expect(stalled.push.status.state != .connected)
        #expect(stalled.end() < 1)
        healthy.end()
        usleep(200_000)
        #expect(healthy.push.status.droppedFrames == 0)
        #expect(healthy.history.map { $0.state } == [.connecting, .connected, .stopped])
        #expect(try Sample.hashes(of: good.recording("key-good")) == sample.frames)
    }

    @Test("a server that refuses to have the stream published makes the output fail, with slow tries only")
    func denied() throws {
        let nginx = try Nginx(publishing: "deny publish all;")
        try nginx.start()
        let fixture = try PushFixture("denied", url: nginx.url, key: "key-denied-secret")
        let broadcast = Broadcast(sample.packets, to: [fixture.push])
        defer { broadcast.end() }
        let failed = try #require(fixture.waitFor(.failed))
        #expect(failed.lastError?.contains("secret") == false)
        #expect([.keyRefused, .hungUp].contains(failed.lastFault?.code) && failed.lastFault?.retry == .slow)
        print("denied: \(failed.lastError ?? "-")")
        let tries = nginx.log("error.log").components(separatedBy: "publish forbidden").count
        usleep(1_500_000)
        #expect(nginx.log("error.log").components(separatedBy: "publish forbidden").count == tries)
        #expect(fixture.push.status.state == .failed)
        #expect(!fixture.history.contains { $0.state == .connected })
    }

    /// A small buffer in the kernel, so that a stall shows soon.
    private static var tight: PushConfiguration {
        var configuration = PushFixture.quick
        configuration.sendBuffer = 32 << 10
        configuration.progressLimit = 2
        configuration.callLimit = 1
        return configuration
    }

    private static func expectRising(_ packets: [MediaPacket]) {
        let media = packets.filter { !$0.isConfiguration }
        #expect(media.first.map { $0.timestamp < 50 } == true)
        #expect(zip(media, media.dropFirst()).allSatisfy { $0.timestamp <= $1.timestamp })
    }
}
