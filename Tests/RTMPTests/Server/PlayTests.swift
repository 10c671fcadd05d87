import Media
import NIOCore
import TestSupport
import Testing

@testable import RTMP

@Suite("Server session with a player", .enabled(if: TestRun.isFull))
struct PlayTests {
    private func player() -> Peer {
        var peer = Peer.connected()
        peer.command("createStream", 2, .null)
        peer.command("getStreamLength", 3, .null, "room")
        peer.command("FCSubscribe", 0, .null, "room")
        peer.command("play", 4, .null, "room?token=t", -2000, streamID: 1)
        peer.message(4, ByteBuffer(bytes: [0, 3, 0, 0, 0, 1, 0, 0, 0x0B, 0xB8]), chunkStream: 2)
        return peer
    }

    @Test("sends stream begin, reset, start and sample access in this order", arguments: [1, Int.max])
    func order(step: Int) throws {
        let run = SessionRun(player().bytes, step: step)
        #expect(run.plays.map(\.name) == ["room"])
        #expect(run.plays.first?.query == ["token": "t"])
        #expect(run.answers(to: 2).first?.argument(0) == 1)
        #expect(run.answers(to: 3).first?.argument(0) == 0)
        #expect(run.statusCodes == ["NetStream.Play.Reset", "NetStream.Play.Start"])
        let tail = run.replies.suffix(5)
        #expect(tail.map(\.type) == [4, 20, 20, 20, 18])
        #expect(tail.first.map { Array($0.payload.readableBytesView) } == [0, 0, 0, 0, 0, 1])
        #expect(tail.map(\.streamID) == [0, 1, 1, 0, 1])
        let start = try #require(run.commands.last { $0.name == "onStatus" })
        #expect(start.argument(0)?.object?["sid"] == "v-7")
        #expect(run.answers(to: 4).map { $0.argument(0)?.object?["sid"] } == ["v-7"])
    }

    @Test("reports the player's flashVer as its client name, or nil")
    func name() {
        var peer = Peer.connected(["app": "live", "tcUrl": "rtmp://host/live", "flashVer": "LNX 10,0,32,18"])
        peer.command("play", 4, .null, "room", streamID: 1)
        #expect(SessionRun(peer.bytes).plays.map(\.clientName) == ["LNX 10,0,32,18"])
        #expect(SessionRun(player().bytes).plays.map(\.clientName) == [nil])
    }

    @Test("answers pause and seek without effect and ignores media from a player")
    func noOperations() {
        var peer = player()
        peer.command("pause", 5, .null, .boolean(true), 0, streamID: 1)
        peer.command("seek", 6, .null, 0, streamID: 1)
        peer.command("receiveAudio", 0, .null, .boolean(false), streamID: 1)
        peer.video(0)
        peer.command("play", 7, .null, "other", streamID: 1)
        let run = SessionRun(peer.bytes)
        #expect(run.answers(to: 5).map(\.name) == ["_result"])
        #expect(run.answers(to: 6).map(\.name) == ["_result"])
        #expect(run.packets.isEmpty)
        #expect(run.plays.count == 1)
        #expect(run.statusCodes.last == "NetStream.Play.Failed")
    }

    @Test("allows a player to play again after closing its stream")
    func playAgain() {
        var peer = player()
        peer.command("deleteStream", 0, .null, 1)
        peer.command("play", 7, .null, "other", streamID: 1)
        let run = SessionRun(peer.bytes)
        #expect(run.streamsEnded == 1)
        #expect(run.plays.map(\.name) == ["room", "other"])
    }

    @Test("ends playback with stream EOF and unpublish notify and ignores further input")
    func unpublished() {
        var run = SessionRun(player().bytes)
        run.session.refuse(.playUnpublishNotify)
        run.drainOutput()
        #expect(run.statusCodes.last == "NetStream.Play.UnpublishNotify")
        #expect(run.replies.contains { $0.type == 4 && $0.payload.getInteger(at: 0) == UInt16(1) })
        var more = Peer()
        more.command("play", 9, .null, "room", streamID: 1)
        run.feed(more.bytes)
        #expect(run.plays.count == 1)
    }

    @Test("requests a reconnect only from peers that support it")
    func reconnect() {
        var run = SessionRun(player().bytes)
        run.session.requestReconnect("restart")
        run.drainOutput()
        #expect(!run.statusCodes.contains("NetConnection.Connect.ReconnectRequest"))
        var able = SessionRun(Peer.connected(["app": "live", "capsEx": 1]).bytes)
        able.session.requestReconnect("restart")
        able.drainOutput()
        #expect(able.statusCodes == ["NetConnection.Connect.ReconnectRequest"])
    }

    @Test("plays to our player from the handshake to the end", arguments: [1, 999, Int.max])
    func ourPlayer(step: Int) throws {
        let address = try #require(RTMPAddress("rtmp://127.0.0.1:1935/live/room?token=t"))
        var player = PlaySession(address: address)
        var server = SessionRun(ByteBuffer())
        var packets: [MediaPacket] = []
        var isStarted = false
        var ending: RTMPStatus?
        func deliver(_ bytes: ByteBuffer) throws {
            var rest = bytes
            while let part = rest.readSlice(length: min(step, rest.readableBytes)), part.readableBytes > 0 {
                try player.receive(part)
                while let event = try player.next() {
                    switch event {
                    case .started: isStarted = true
                    case .packet(let packet): packets.append(packet)
                    case .ended(let status): ending = status
                    }
                }
            }
        }
        for _ in 0..<6 {
            if let output = player.drainOutput() {
                try server.session.receive(output, at: server.now)
                while let event = try server.session.next() {
                    if case .play(let request) = event {
                        #expect(request.app == "live" && request.name == "room" && request.query == ["token": "t"])
                        server.session.acceptPlay()
                    }
                }
            }
            if let output = server.session.drainOutput() { try deliver(output) }
        }
        #expect(isStarted)
        var chunks = ByteBuffer()
        let body = Peer.videoBody(1, isKey: true, length: 150_000)
        let frame = try #require(MediaPacket(videoBody: body, timestamp: 0x1_0000_0010))
        ViewerChunks.write(frame, to: &chunks)
        #expect(chunks.readableBytes == ViewerChunks.size(of: frame))
        try deliver(chunks)
        #expect(packets.map(\.body) == [body])
        #expect(packets.first?.timestamp == 0x10)
        server.session.refuse(.playUnpublishNotify)
        let last = server.session.drainOutput()
        try deliver(try #require(last))
        #expect(ending?.code == "NetStream.Play.UnpublishNotify")
    }
}
