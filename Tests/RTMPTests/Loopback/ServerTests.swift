import Media
import NIOCore
import Testing

@testable import RTMP

@Suite("The server on loopback", .serialized)
struct ServerTests {
    private func hevcPublisher() -> Peer {
        var peer = Peer.publishing()
        peer.message(9, ByteBuffer(bytes: [0x90] + Array("hvc1".utf8) + [1, 2]), streamID: 1)
        for index in 0..<200 { peer.picture(UInt32(index)) }
        return peer
    }

    @Test("a refused publisher hears why before the connection closes, even while it keeps sending")
    func refusedByReceiver() async throws {
        let relay = Relay { packet in
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

    @Test("a refused key is answered after its delay, and nothing is read meanwhile")
    func refusedKey() async throws {
        let relay = Relay(refusal: .publishBadName("No such key."), refusalDelay: .milliseconds(300))
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

    @Test("a refused player hears StreamNotFound")
    func refusedPlayer() async throws {
        let relay = Relay(refusal: .playStreamNotFound("No such room."))
        try await withServer(relay) { server, group in
            let ends = Recorder<String>()
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

    @Test("a publisher that is replaced is told so, and its receiver hears of it once")
    func replaced() async throws {
        let relay = Relay()
        try await withServer(relay) { server, group in
            let peer = try await RawPeer(port: server.port, group: group)
            var bytes = Peer.publishing()
            bytes.picture(0, isKey: true)
            try await peer.send(bytes.bytes)
            _ = await relay.packets.wait { !$0.isEmpty }
            let connection = try #require(relay.publisherConnections.first)
            connection.eventLoop.execute { connection.end(.publishReplaced, reason: .replaced) }
            #expect(await peer.status("NetStream.Publish.BadName")?.description.contains("Another connection") == true)
            #expect(await peer.isClosed(within: 6))
        }
        #expect(relay.ended.values == [.replaced])
    }

    @Test("how a stream ended: closed, deleted, protocol broken, server gone")
    func endings() async throws {
        let relay = Relay()
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

    @Test("deadlines: no handshake, a slow one, no publish, and a dead publisher")
    func deadlines() async throws {
        let relay = Relay()
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
            let ghost = try await RawPeer(port: server.port, group: group)
            try await ghost.send(Peer.publishing().bytes)
            #expect(await silent.isClosed(within: 6))
            #expect(await slow.isClosed(within: 6))
            #expect(await idle.isClosed(within: 6))
            #expect(await ghost.isClosed(within: 6))
            #expect(relay.ended.values == [.timedOut])
        }
    }

    @Test("a viewer of a still program that answers nothing is gone after three pings; others stay")
    func stillViewer() async throws {
        var limits = RTMPLimits()
        limits.viewerPingInterval = .milliseconds(100)
        var playing = Peer.connected()
        playing.command("play", 2, .null, "room", streamID: 1)
        let audience = Relay(taken: 0)
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

    @Test("connections that neither publish nor play are counted, by address and in all")
    func admission() async throws {
        let relay = Relay()
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

    @Test("a peer that asks and never reads is not read from any more, and goes on when it reads")
    func deaf() async throws {
        let relay = Relay(sid: "v-1")
        var limits = RTMPLimits()
        limits.highWaterMark = 64 << 10
        try await withServer(relay, limits: limits) { server, group in
            let first = Peer.publishing()
            var questions = Peer()
            for number in 0..<500 { questions.command("FCSubscribe", Double(number), .null) }
            let peer = try DeafPeer(
                port: server.port,
                first: Array(first.bytes.readableBytesView),
                repeating: Array(questions.bytes.readableBytesView)
            )
            _ = await relay.publishes.wait { $0.count == 1 }
            // Each question has an answer five times as long, of which the systems' buffers take some.
            let taken = try await peer.sendUntilStuck(atMost: 8 << 20)
            #expect(taken < 4 << 20, "\(taken) bytes")
            #expect(try await peer.converse(bytes: 128 << 10, within: 10))
        }
    }

    @Test("a session id reaches the player, and media the player's chunks")
    func sessionID() async throws {
        let relay = Relay(sid: "v-42")
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
