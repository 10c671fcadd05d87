import Foundation
import Glibc
import Media
import Stage
import Synchronization
import TestSupport
import Testing

@testable import Egress

@Suite("A push against servers that misbehave", .enabled(if: TestRun.isFull), .serialized)
struct UnfriendlyServerTests {
    @Test("a server that accepts and says nothing costs the deadline and no more")
    func silent() throws {
        let server = try Listener()
        defer { server.end() }
        server.serve { _, isEnded in
            while !isEnded() { usleep(20_000) }
        }
        let start = MonotonicTime.now()
        let fixture = try PushFixture("silent", url: "rtmp://127.0.0.1:\(server.port)/live", key: "k")
        let failed = try #require(fixture.wait { $0.lastError != nil })
        let took = MonotonicTime.now().seconds(since: start)
        #expect(took > 1.3 && took < 2.2)
        #expect(failed.state == .connecting)
        // A second try is under way or near; stopping does not wait for its end.
        #expect(fixture.end() < 0.8)
    }

    @Test("a server that trickles one byte at a time cannot stretch the deadline")
    func trickling() throws {
        let server = try Listener()
        defer { server.end() }
        server.serve { socket, isEnded in
            var byte: UInt8 = 3
            while !isEnded(), send(socket, &byte, 1, Int32(MSG_NOSIGNAL)) == 1 { usleep(100_000) }
        }
        let start = MonotonicTime.now()
        let fixture = try PushFixture("trickle", url: "rtmp://127.0.0.1:\(server.port)/live", key: "k")
        _ = try #require(fixture.wait { $0.lastError != nil })
        #expect(MonotonicTime.now().seconds(since: start) < 2.2)
    }

    @Test("garbage and early ends are survived, and tries grow apart")
    func garbage() throws {
        let server = try Listener()
        defer { server.end() }
        server.serve { socket, _ in
            let noise = (0..<8192).map { _ in UInt8.random(in: 0...255) }
            _ = noise.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        }
        let fixture = try PushFixture("noise", url: "rtmp://127.0.0.1:\(server.port)/live", key: "k")
        _ = try #require(fixture.wait { $0.lastError != nil })
        usleep(1_500_000)
        // Delays of 0.2, 0.3, 0.45, 0.5 seconds leave room for a handful of tries.
        #expect((3...9).contains(server.connections))
        #expect(fixture.push.status.state == .connecting)
    }

    @Test("a name that leads to a private address is refused, though another of its addresses is public")
    func guarded() throws {
        var configuration = PushFixture.quick
        configuration.resolve = { _, port, _ throws(PushError) in
            [NetworkAddress(ipv4: (93, 184, 216, 34), port: port), NetworkAddress(ipv4: (10, 0, 0, 7), port: port)]
        }
        let fixture = try PushFixture(
            "guarded",
            url: "rtmp://push.example.test/live",
            key: "k",
            configuration: configuration,
            policy: TargetPolicy()
        )
        let failed = try #require(fixture.waitFor(.failed))
        #expect(failed.lastError?.contains("not a public address") == true)
    }

    @Test("a try that is far off is made at once when somebody wants it, and once for each time")
    func retried() throws {
        let server = try Listener()
        defer { server.end() }
        server.serve { _, _ in }
        var configuration = PushFixture.quick
        configuration.backoff.initial = 60
        configuration.backoff.maximum = 60
        let fixture = try PushFixture(
            "retried",
            url: "rtmp://127.0.0.1:\(server.port)/live",
            key: "k",
            configuration: configuration
        )
        _ = try #require(fixture.wait { $0.lastError != nil })
        for tries in 1...3 {
            let deadline = MonotonicTime.now().advanced(seconds: 2)
            while server.connections < tries, MonotonicTime.now() < deadline { usleep(10_000) }
            // The wait for the next try has begun by then.
            usleep(150_000)
            #expect(server.connections == tries)
            fixture.push.retry()
        }
    }

    @Test("a name that does not resolve is tried again")
    func unknownName() throws {
        let fixture = try PushFixture("nameless", url: "rtmp://no-such-host.invalid/live", key: "k")
        let failed = try #require(fixture.wait { $0.lastError != nil })
        #expect(failed.state == .connecting)
        #expect(failed.lastError?.contains("no-such-host.invalid") == true)
    }
}

@Suite("A push and a server that asks whether it is still there")
struct PingTests {
    @Test("a ping is answered at once with its own time, and the stream goes on")
    func ping() throws {
        let server = try Listener()
        defer { server.end() }
        let answered = Latch<[Double]>([])
        server.serve { socket, isEnded in
            var talk = ServerTalk(socket: socket, isEnded: isEnded)
            guard talk.acceptPublish() else { return }
            for time in [1, 0x1234_5678, UInt32.max] {
                let asked = MonotonicTime.now()
                talk.send(type: 4, chunkStream: 2, [0, 6] + ServerTalk.bigEndian(time))
                guard talk.wait(for: [0, 7] + ServerTalk.bigEndian(time)) else { return }
                answered.update { $0.append(MonotonicTime.now().seconds(since: asked)) }
            }
            while !isEnded() { usleep(20_000) }
        }
        let fixture = try PushFixture("pinged", url: "rtmp://127.0.0.1:\(server.port)/live", key: "k")
        let delays = try #require(answered.wait(until: .now().advanced(seconds: 20)) { $0.count == 3 ? $0 : nil })
        #expect(delays.allSatisfy { $0 < 0.5 }, "\(delays)")
        #expect(fixture.push.status.reconnects == 0)
        #expect(server.connections == 1)
    }
}
