import Media
import NIOCore
import TestSupport
import Testing

@testable import RTMP

@Suite("RTMP server", .enabled(if: TestRun.isFull), .serialized)
struct ServerTests {
    private func hevcPublisher() -> Peer {
        var peer = Peer.publishing()
        peer.message(9, ByteBuffer(bytes: [0x90] + Array("hvc1".utf8) + [1, 2]), streamID: 1)
        for index in 0..<200 { peer.video(UInt32(index)) }
        return peer
    }

    @Test("sends the refusal status before closing, even while the publisher keeps sending")
    func refusedByReceiver() async throws {
        let relay = RelayDelegate { packet in
            if case .videoConfiguration(let codec) = packet.content, codec != .h264 {
                return .publishRejected("\(codec.rawValue) is not supported")
            }
            return nil
        }
        try await withServer(relay) { server, group in
            let peer = try await RawPeer(port: server.port, group: group)
            try await peer.send(hevcPublisher().bytes)
            let status = await peer.status("NetStream.Publish.Rejected")
            #expect(status?.level == "error")
            #expect(status?.description.contains("HEVC") == true)
            #expect(await peer.isClosed(within: 6))
        }
        #expect(relay.ended.values == [.refused])
        #expect(relay.packets.values.isEmpty)
    }

    @Test("answers a refused key after its delay and reads nothing meanwhile")
    func refusedKey() async throws {
        let relay = RelayDelegate(refusal: .publishBadName("No such key."), refusalDelay: .milliseconds(300))
        try await withServer(relay) { server, group in
            let peer = try await RawPeer(port: server.port, group: group)
            let start = ContinuousClock.now
            try await peer.send(Peer.publishing().bytes)
            #expect(await peer.status("NetStream.Publish.BadName")?.description == "No such key.")
            #expect(ContinuousClock.now - start >= .milliseconds(300))
            #expect(await peer.isClosed(within: 6))
        }
        #expect(relay.ended.values.isEmpty)
    }

    @Test("refuses a player with StreamNotFound")
    func refusedPlayer() async throws {
        let relay = RelayDelegate(refusal: .playStreamNotFound("No such room."))
        try await withServer(relay) { server, group in
            let ends = ValueRecorder<String>()
            let player = RTMPPlayer(
                url: "rtmp://127.0.0.1:\(server.port)/live/room",
                group: group,
                onPacket: { _, _ in },
                onEnd: { ends.append($0) }
            )
            player.start()
            #expect(await ends.wait { !$0.isEmpty } == ["NetStream.Play.StreamNotFound: No such room."])
        }
    }

    @Test("notifies a replaced publisher and its receiver once")
    func replaced() async throws {
        let relay = RelayDelegate()
        try await withServer(relay) { server, group in
            let peer = try await RawPeer(port: server.port, group: group)
            var bytes = Peer.publishing()
            bytes.video(0, isKey: true)
            try await peer.send(bytes.bytes)
            _ = await relay.packets.wait { !$0.isEmpty }
            let connection = try #require(relay.publisherConnections.first)
            connection.eventLoop.execute { connection.end(.publishReplaced, reason: .replaced) }
            #expect(await peer.status("NetStream.Publish.BadName")?.description.contains("Another connection") == true)
            #expect(await peer.isClosed(within: 6))
        }
        #expect(relay.ended.values == [.replaced])
    }

    @Test("reports how a stream ended: closed, deleted, protocol violation or shutdown")
    func endings() async throws {
        let relay = RelayDelegate()
        try await withServer(relay) { server, group in
            let closing = try await RawPeer(port: server.port, group: group)
            try await closing.send(Peer.publishing().bytes)
            _ = await relay.publishes.wait { $0.count == 1 }
            try await closing.close()
            #expect(await relay.ended.wait { $0.count == 1 } == [.closedByPeer])

            let deleting = try await RawPeer(port: server.port, group: group)
            var bytes = Peer.publishing()
            bytes.command("deleteStream", 0, .null, 1, streamID: 0)
            try await deleting.send(bytes.bytes)
            #expect(await relay.ended.wait { $0.count == 2 }.last == .deletedStream)

            let breaking = try await RawPeer(port: server.port, group: group)
            var broken = Peer.publishing()
            broken.message(1, ByteBuffer(integer: UInt32(1)), chunkStream: 2)
            try await breaking.send(broken.bytes)
            let ended = await relay.ended.wait { $0.count == 3 }
            #expect(ended.last == .protocolViolation("a chunk size of 1 bytes"))
            #expect(await breaking.isClosed(within: 6))

            let staying = try await RawPeer(port: server.port, group: group)
            try await staying.send(Peer.publishing().bytes)
            _ = await relay.publishes.wait { $0.count == 4 }
            await server.shutdown()
            #expect(await staying.isClosed(within: 6))
            #expect(relay.ended.values.last == .shutdown)
        }
    }

    @Test("closes connections at the deadlines of the handshake, of publish and of pings")
    func deadlines() async throws {
        let relay = RelayDelegate()
        var limits = RTMPLimits()
        limits.handshakeTimeout = .milliseconds(1500)
        limits.preAuthTimeout = .milliseconds(3000)
        limits.pingInterval = .milliseconds(1000)
        limits.pingTimeout = .milliseconds(1000)
        try await withServer(relay, limits: limits) { server, group in
            let silent = try await RawPeer(port: server.port, group: group)
            let slow = try await RawPeer(port: server.port, group: group)
            try await slow.send(ByteBuffer(repeating: 3, count: 1000))
            let idle = try await RawPeer(port: server.port, group: group)
            try await idle.send(Peer.connected().bytes)
            let dead = try await RawPeer(port: server.port, group: group)
            try await dead.send(Peer.publishing().bytes)
            #expect(await silent.isClosed(within: 6))
            #expect(await slow.isClosed(within: 6))
            #expect(await idle.isClosed(within: 6))
            #expect(await dead.isClosed(within: 6))
            #expect(relay.ended.values == [.timedOut])
        }
    }

    @Test("closes a viewer without progress after three unanswered pings and keeps other peers")
    func idleViewer() async throws {
        var limits = RTMPLimits()
        limits.viewerPingInterval = .milliseconds(100)
        var playing = Peer.connected()
        playing.command("play", 2, .null, "room", streamID: 1)
        let audience = RelayDelegate(sentBytes: 0)
        try await withServer(audience, limits: limits) { server, group in
            let host = try await RawPeer(port: server.port, group: group)
            try await host.send(Peer.publishing().bytes)
            _ = await audience.publishes.wait { $0.count == 1 }
            let answering = RTMPPlayer(
                url: "rtmp://127.0.0.1:\(server.port)/live/room",
                group: group,
                onPacket: { _, _ in },
                onEnd: { _ in }
            )
            answering.start()
            _ = await audience.plays.wait { $0.count == 1 }
            let viewer = try await RawPeer(port: server.port, group: group)
            try await viewer.send(playing.bytes)
            #expect(await viewer.isClosed(within: 20))
            #expect(audience.ended.values == [.timedOut])
            answering.stop()
        }
    }

    @Test("limits connections that neither publish nor play, per address")
    func admission() async throws {
        let relay = RelayDelegate()
        var limits = RTMPLimits()
        limits.preAuthConnectionsPerClient = 2
        try await withServer(relay, limits: limits) { server, group in
            let first = try await RawPeer(port: server.port, group: group)
            let second = try await RawPeer(port: server.port, group: group)
            try await first.send(Peer.connected().bytes)
            try await second.send(Peer.connected().bytes)
            let third = try await RawPeer(port: server.port, group: group)
            #expect(await third.isClosed(within: 2))
            var publish = Peer()
            publish.command("publish", 3, .null, "sk_key", streamID: 1)
            try await first.send(publish.bytes)
            _ = await relay.publishes.wait { $0.count == 1 }
            let fourth = try await RawPeer(port: server.port, group: group)
            try await fourth.send(Peer.publishing().bytes)
            #expect(await relay.publishes.wait { $0.count == 2 }.count == 2)
            #expect(server.connectionCount == 3)
        }
    }

    @Test("suspends reading from a peer that does not read its responses, and resumes when it does")
    func nonReadingPeer() async throws {
        let relay = RelayDelegate(sid: "v-1")
        var limits = RTMPLimits()
        limits.highWaterMark = 64 << 10
        try await withServer(relay, limits: limits) { server, group in
            let first = Peer.publishing()
            var questions = Peer()
            for number in 0..<500 { questions.command("FCSubscribe", Double(number), .null) }
            let peer = try NonReadingPeer(
                port: server.port,
                first: Array(first.bytes.readableBytesView),
                repeating: Array(questions.bytes.readableBytesView)
            )
            _ = await relay.publishes.wait { $0.count == 1 }
            // Each command has a response five times as long, part of which the socket buffers hold.
            let sentBytes = try await peer.sendUntilBlocked(atMost: 8 << 20)
            #expect(sentBytes < 4 << 20, "\(sentBytes) bytes")
            #expect(try await peer.exchange(bytes: 128 << 10, within: 10))
        }
    }

    @Test("sends the session ID to the player")
    func sessionID() async throws {
        let relay = RelayDelegate(sid: "v-42")
        try await withServer(relay) { server, group in
            let peer = try await RawPeer(port: server.port, group: group)
            var bytes = Peer.connected()
            bytes.command("play", 2, .null, "room", streamID: 1)
            try await peer.send(bytes.bytes)
            #expect(await peer.status("NetStream.Play.Start") != nil)
            let start = peer.commands.compactMap { $0.argument(0)?.object }.last
            #expect(start?["sid"] == "v-42")
        }
        #expect(relay.ended.values == [.shutdown])
    }
}
