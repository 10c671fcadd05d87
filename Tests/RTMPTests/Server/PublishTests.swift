import Media
import NIOCore
import TestSupport
import Testing

@testable import RTMP

@Suite("Server session with a publisher")
struct PublishTests {
    /// A complete short stream: configurations, audio and video with changes of the chunk size.
    private func stream() -> Peer {
        var peer = Peer.publishing()
        var metadata = ByteBuffer()
        metadata.writeAMF0(["@setDataFrame", "onMetaData", .array(["width": 640])])
        peer.message(18, metadata, streamID: 1, chunkStream: 4)
        peer.message(9, ByteBuffer(bytes: [0x17, 0, 0, 0, 0, 1, 100, 0, 31]), streamID: 1)
        peer.message(8, ByteBuffer(bytes: [0xAF, 0, 0x12, 0x10]), streamID: 1, chunkStream: 4)
        peer.video(0, isKey: true, length: 5000)
        peer.audio(5)
        peer.setChunkSize(4096)
        peer.video(40, length: 9000)
        peer.audio(30)
        peer.message(9, ByteBuffer(), timestamp: 60, streamID: 1)
        peer.video(80)
        return peer
    }

    @Test("decodes a stream in reads of any size", arguments: [1, 2, 17, 1400, Int.max])
    func pieces(step: Int) throws {
        let run = SessionRun(stream().bytes, step: step)
        #expect(run.violation == nil)
        #expect(run.publishes.map(\.name) == ["sk_key"])
        #expect(run.publishes.first?.remoteAddress == "192.0.2.1")
        let contents = run.packets.map(\.content)
        #expect(contents.prefix(3) == [.metadata, .videoConfiguration(.h264), .audioConfiguration(.aac)])
        #expect(run.packets.map(\.timestamp) == [0, 0, 0, 0, 5, 40, 30, 80])
        #expect(run.packets[3].body == Peer.videoBody(0, isKey: true, length: 5000))
        #expect(run.packets[5].body == Peer.videoBody(40, length: 9000))
        #expect(StreamMetadata(run.packets[0])?.width == 640)
    }

    @Test("answers FFmpeg's command sequence, with the chunk size before long messages")
    func ffmpegOrder() throws {
        var peer = Peer.connected(["app": "live", "type": "nonprivate", "tcUrl": "rtmp://h/live"])
        peer.command("releaseStream", 2, .null, "sk_key")
        peer.command("FCPublish", 3, .null, "sk_key")
        peer.command("createStream", 4, .null)
        peer.command("_checkbw", 5, .null)
        peer.command("publish", 6, .null, "sk_key", "live", streamID: 1)
        let run = SessionRun(peer.bytes)
        #expect(run.replies.prefix(4).map(\.type) == [5, 6, 1, 20])
        #expect(run.replies[1].payload.getInteger(at: 4) == UInt8(2))
        #expect(run.replies[2].payload.number == UInt32(ViewerChunks.chunkSize))
        #expect(run.commands.prefix(2).map(\.name) == ["_result", "onBWDone"])
        for transaction in 2...5 { #expect(run.answers(to: Double(transaction)).map(\.name) == ["_result"]) }
        #expect(run.answers(to: 4).first?.argument(0) == 1)
        let announced = try #require(run.commands.first { $0.name == "onFCPublish" })
        #expect(announced.argument(0)?.object?["code"] == "NetStream.Publish.Start")
        #expect(run.statusCodes == ["NetStream.Publish.Start"])
    }

    @Test("echoes the object encoding in connect and declares enhanced RTMP")
    func connectAnswer() throws {
        let list: AMF0Value = .list(["av01", "hvc1"])
        var peer = Peer(bytes: Peer.handshake)
        peer.command(
            "connect",
            1,
            .array([
                "app": "live", "objectEncoding": 3, "fourCcList": list, "videoFourCcInfoMap": .object(["hvc1": 2]),
                "audioFourCcInfoMap": .array(["Opus": 6]), "capsEx": 5,
            ])
        )
        peer.command("publish", 2, .null, "sk_key", streamID: 1)
        let run = SessionRun(peer.bytes)
        let result = try #require(run.answers(to: 1).first)
        #expect(result.argument(0)?.object?["objectEncoding"] == 3)
        #expect(result.argument(0)?.object?["code"] == "NetConnection.Connect.Success")
        #expect(result.object?["fourCcList"]?.list?.contains("avc1") == true)
        #expect(result.object?["videoFourCcInfoMap"]?.object?["avc1"] == 5)
        #expect(result.object?["capsEx"]?.number.map { Int($0) & 4 } == 4)
        let capabilities = try #require(run.publishes.first).capabilities
        #expect(capabilities.codecs == ["av01", "hvc1"])
        #expect(capabilities.video == ["hvc1": .encode])
        #expect(capabilities.audio == ["Opus": [.encode, .forward]])
        #expect(capabilities.extensions == [.reconnect, .modifiers])
        #expect(run.publishes.first?.type == "live")
        #expect(run.session.canReconnect)
    }

    @Test("decodes AMF3 commands and data as a zero byte followed by AMF0")
    func amf3() {
        var peer = Peer.connected()
        var command = ByteBuffer(bytes: [0])
        command.writeAMF0(["publish", 4, .null, "sk_key"])
        peer.message(17, command, streamID: 1, chunkStream: 3)
        var data = ByteBuffer(bytes: [0])
        data.writeAMF0(["onMetaData", .object(["height": 360])])
        peer.message(15, data, streamID: 1)
        peer.message(16, ByteBuffer(bytes: [1, 2, 3]), streamID: 1)
        peer.message(19, ByteBuffer(bytes: [1, 2, 3]), streamID: 1)
        let run = SessionRun(peer.bytes)
        #expect(run.publishes.count == 1)
        #expect(run.packets.first.flatMap { StreamMetadata($0) }?.height == 360)
    }

    @Test(
        "parses stream and application names in the forms that encoders send",
        arguments: [
            ("live", "rtmp://h/live", "sk_key?token=a%2Fb&x", "live", "sk_key", ["token": "a/b", "x": ""]),
            ("live/?a=1", "rtmp://h/live/?a=1", "sk_key?a=2", "live", "sk_key", ["a": "2"]),
            ("\"live\"", "rtmp://h/live", "/sk_key", "live", "sk_key", [:]),
            ("live/sk_key", "rtmp://h/live/sk_key", "", "live", "sk_key", [:]),
            ("", "rtmp://h:1935/live?q=1", "sk_key", "live", "sk_key", ["q": "1"]),
            ("a/b", "rtmp://h/a/b", "sk_key.screen", "a/b", "sk_key.screen", [:]),
        ] as [(String, String, String, String, String, [String: String])]
    )
    func names(app: String, url: String, name: String, parsedApp: String, parsedName: String, query: [String: String]) {
        var peer = Peer.connected(["app": .string(app), "tcurl": .string(url)])
        peer.command("publish", 2, .null, .string(name), streamID: 1)
        let run = SessionRun(peer.bytes)
        #expect(run.publishes.first?.app == parsedApp)
        #expect(run.publishes.first?.name == parsedName)
        #expect(run.publishes.first?.query == query)
        #expect(run.publishes.first?.tcURL == url)
    }

    @Test(
        "refuses unacceptable names with a status",
        arguments: [
            "..", "../x", "a/../b", "a b", "a\\b", "<x>", String(repeating: "a", count: 129), "", "ü", "a/b/c/d/e",
        ]
    )
    func badNames(name: String) {
        var peer = Peer.connected()
        peer.command("publish", 2, .null, .string(name), streamID: 1)
        let run = SessionRun(peer.bytes)
        #expect(run.publishes.isEmpty)
        #expect(run.refusals.map(\.code) == ["NetStream.Publish.BadName"])
        #expect(run.statusCodes == ["NetStream.Publish.BadName"])

        let rejected = SessionRun(Peer.connected(["app": .string(name)]).bytes)
        #expect(rejected.refusals.map(\.code) == ["NetConnection.Connect.Rejected"])
        #expect(rejected.commands.map(\.name) == ["_error"])
    }

    @Test("rejects connect without an object and publish before connect")
    func missingConnect() {
        var peer = Peer(bytes: Peer.handshake)
        peer.command("connect", 1, .null)
        #expect(SessionRun(peer.bytes).refusals.map(\.code) == ["NetConnection.Connect.Rejected"])
        var early = Peer(bytes: Peer.handshake)
        early.command("publish", 1, .null, "sk_key", streamID: 1)
        #expect(SessionRun(early.bytes).violation == RTMPViolation("publish before connect"))
    }

    @Test(
        "allows a publisher to publish again after ending its stream",
        arguments: ["FCUnpublish", "deleteStream", "closeStream"]
    )
    func republish(ending: String) {
        var peer = stream()
        peer.command(ending, 9, .null, "sk_key", streamID: 1)
        peer.video(120)
        peer.command("createStream", 10, .null)
        peer.command("publish", 11, .null, "sk_other", "live", streamID: 1)
        peer.video(7, isKey: true)
        let run = SessionRun(peer.bytes)
        #expect(run.streamsEnded == 1)
        #expect(run.publishes.map(\.name) == ["sk_key", "sk_other"])
        #expect(run.packets.map(\.timestamp) == [0, 0, 0, 0, 5, 40, 30, 80, 7])
        #expect(run.statusCodes.contains("NetStream.Unpublish.Success"))
    }

    @Test("denies a second publish and continues the first")
    func secondPublish() {
        var peer = stream()
        peer.command("publish", 9, .null, "sk_other", "live", streamID: 1)
        peer.video(120)
        let run = SessionRun(peer.bytes)
        #expect(run.publishes.count == 1)
        #expect(run.statusCodes.last == "NetStream.Publish.Denied")
        #expect(run.packets.last?.timestamp == 120)
    }

    @Test("answers pings and ignores unknown and short control messages")
    func control() {
        var peer = Peer.publishing()
        peer.message(4, ByteBuffer(bytes: [0, 6, 1, 2, 3, 4]), chunkStream: 2)
        peer.message(4, ByteBuffer(bytes: [0, 31, 0, 0, 0, 1]), chunkStream: 2)
        peer.message(4, ByteBuffer(bytes: [0]), chunkStream: 2)
        for type in [1, 2, 3, 5, 6] as [UInt8] { peer.message(type, ByteBuffer(bytes: [1, 2]), chunkStream: 2) }
        peer.message(77, ByteBuffer(bytes: [1]), chunkStream: 2)
        peer.video(1)
        let run = SessionRun(peer.bytes)
        #expect(run.violation == nil)
        #expect(run.packets.count == 1)
        let pongs = run.replies.filter { $0.type == 4 && $0.payload.getInteger(at: 0) == UInt16(7) }
        #expect(pongs.map { Array($0.payload.readableBytesView) } == [[0, 7, 1, 2, 3, 4]])
    }

    @Test("acknowledges every half window, announced or default", arguments: [nil, 100_000] as [UInt32?])
    func acknowledgements(announced: UInt32?) throws {
        var peer = Peer.publishing(chunkSize: 60_000)
        if let announced { peer.message(5, ByteBuffer(integer: announced), chunkStream: 2) }
        for index in 0..<60 { peer.video(UInt32(index), length: 50_000) }
        let run = SessionRun(peer.bytes, step: 10_000)
        let acknowledgements = run.replies.filter { $0.type == 3 }.compactMap(\.payload.number)
        let window = announced ?? 2_500_000
        #expect(acknowledgements.count >= Int(UInt32(peer.bytes.readableBytes) / (window / 2)) - 3)
        var last: UInt32 = 0
        for value in acknowledgements {
            #expect(value - last <= window / 2 + 10_000)
            last = value
        }
        #expect(run.packets.count == 60)
    }

    @Test("splits an aggregate with its own timestamp first and the offsets preserved")
    func aggregate() {
        var peer = Peer.publishing()
        var body = ByteBuffer()
        for (type, time, bytes) in [
            (8, 500, [0xAF, 1, 9]), (9, 520, [0x27, 1, 0, 0, 0, 1, 2]), (8, 540, [0xAF, 1, 8]),
        ] {
            body.writeInteger(UInt8(type))
            body.writeInteger24(UInt32(bytes.count))
            body.writeInteger24(UInt32(time))
            body.writeBytes([0, 0, 0, 0])
            body.writeBytes(bytes.map { UInt8($0) })
            body.writeInteger(UInt32(bytes.count + 11))
        }
        peer.message(22, body, timestamp: 9000, streamID: 1)
        body.writeBytes([9, 0xFF, 0xFF, 0xFF, 0, 0, 0])
        peer.message(22, body, timestamp: 9100, streamID: 1)
        let run = SessionRun(peer.bytes, step: 3)
        #expect(run.packets.map(\.timestamp) == [9000, 9020, 9040, 9100, 9120, 9140])
        #expect(run.packets.map(\.isVideo) == [false, true, false, false, true, false])
        #expect(run.packets[1].bytes == [0x27, 1, 0, 0, 0, 1, 2])
    }

    @Test("unwraps timestamps across 32 bits and ignores metadata timestamps of 0")
    func timestamps() {
        var peer = Peer.publishing()
        peer.video(0xFFFF_FFD8, isKey: true)
        var metadata = ByteBuffer()
        metadata.writeAMF0(["onMetaData", .object([:])])
        peer.message(18, metadata, timestamp: 0, streamID: 1, chunkStream: 4)
        peer.audio(0xFFFF_FFF0)
        peer.video(0)
        peer.audio(7)
        peer.video(0xFFFF_FFF8)
        peer.video(40)
        let start: Int64 = 0xFFFF_FFD8
        let run = SessionRun(peer.bytes)
        #expect(run.packets.filter { $0.content != .metadata }.map { $0.timestamp - start } == [0, 24, 40, 47, 32, 80])
    }

    @Test("forwards changed and repeated configurations")
    func configurationChange() {
        var peer = Peer.publishing()
        let records: [[UInt8]] = [[1, 100, 0, 31], [1, 100, 0, 31], [1, 77, 0, 40]]
        for (index, record) in records.enumerated() {
            peer.message(9, ByteBuffer(bytes: [0x17, 0, 0, 0, 0] + record), timestamp: UInt32(index), streamID: 1)
            peer.video(UInt32(index), isKey: true)
        }
        let run = SessionRun(peer.bytes)
        let configurations = run.packets.filter { $0.content == .videoConfiguration(.h264) }
        #expect(configurations.map { Array($0.payload.readableBytesView) } == records)
    }

    @Test("ignores codecs named in metadata only")
    func codecInMetadata() {
        var peer = Peer.publishing()
        var metadata = ByteBuffer()
        metadata.writeAMF0([
            "@setDataFrame", "onMetaData", .object(["videocodecid": "av01", "width": "x", "height": -5]),
        ])
        peer.message(18, metadata, streamID: 1)
        peer.video(0, isKey: true)
        let run = SessionRun(peer.bytes)
        #expect(run.packets.map(\.content) == [.metadata, .video(.h264, isKey: true, isDisposable: false)])
        #expect(StreamMetadata(run.packets[0])?.width == nil)
        #expect(StreamMetadata(run.packets[0])?.height == nil)
    }

    @Test("ignores unreadable data messages and rejects an unreadable command")
    func unreadable() {
        var peer = Peer.publishing()
        peer.message(18, ByteBuffer(bytes: [2, 0xFF]), streamID: 1)
        peer.message(18, ByteBuffer(bytes: [17, 1]), streamID: 1)
        var other = ByteBuffer()
        other.writeAMF0(["onTextData", .object(["text": "hi"])])
        peer.message(18, other, streamID: 1)
        peer.video(3)
        var run = SessionRun(peer.bytes)
        #expect(run.packets.map(\.timestamp) == [3])
        #expect(run.violation == nil)
        var more = Peer()
        more.message(20, ByteBuffer(bytes: [2, 0xFF]), chunkStream: 3)
        run.feed(more.bytes)
        #expect(run.violation != nil)
    }

    @Test("limits a peer to 64 KiB before publish")
    func preAuthBytes() {
        var peer = Peer.connected()
        for _ in 0..<40 { peer.message(18, ByteBuffer(repeating: 0, count: 2000), chunkStream: 4) }
        #expect(SessionRun(peer.bytes, step: 1000).violation == RTMPViolation("too many bytes before publish or play"))
        #expect(SessionRun(Peer.publishing().bytes, step: 1000).violation == nil)
    }

    @Test("processes randomly damaged input within its limits", arguments: 0..<60)
    func damage(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var bytes = stream().bytes
        for _ in 0..<Int.random(in: 1...20, using: &random) {
            let index = Int.random(in: 1..<bytes.readableBytes, using: &random)
            bytes.setInteger(UInt8.random(in: 0...255, using: &random), at: index)
        }
        let run = SessionRun(bytes, step: Int.random(in: 1...5000, using: &random))
        #expect(run.packets.count <= 100)
    }
}
