import Media
import NIOCore
import Testing

@testable import RTMP

@Suite("A publisher's session")
struct PublishSessionTests {
    private static let address = "rtmp://127.0.0.1:1935/live/sk_key?token=t"

    /// A publisher and our server with a line between them that hands over so many bytes at a time.
    private struct Line {
        var publisher: PublishSession
        var server = SessionRun(ByteBuffer())
        var isStarted = false
        var ending: RTMPStatus?
        let step: Int

        init(step: Int) throws {
            publisher = PublishSession(address: try #require(RTMPAddress(PublishSessionTests.address)))
            self.step = step
        }

        /// Carries bytes both ways until neither side has any.
        mutating func carry() throws {
            for _ in 0..<8 {
                if let output = publisher.takeOutput() { server.feed(output, step: step) }
                // The run looks at the replies too, so they are written anew for the publisher.
                try give(server.takeReplies())
            }
        }

        private mutating func give(_ bytes: ByteBuffer) throws {
            var rest = bytes
            while let part = rest.readSlice(length: min(step, rest.readableBytes)), part.readableBytes > 0 {
                try publisher.receive(part)
                while let event = try publisher.next() {
                    switch event {
                    case .started: isStarted = true
                    case .ended(let status): ending = status
                    }
                }
            }
        }
    }

    @Test("Our publisher and our server agree from the first byte to the last", arguments: [1, 999, Int.max])
    func whole(step: Int) throws {
        var line = try Line(step: step)
        try line.carry()
        #expect(line.isStarted && line.publisher.isPublishing)
        let request = try #require(line.server.publishes.first)
        #expect(request.app == "live" && request.name == "sk_key" && request.query == ["token": "t"])
        #expect(request.type == "live" && request.tcURL == "rtmp://127.0.0.1:1935/live")

        let metadata = StreamMetadata.packet(
            width: 64,
            height: 32,
            frameRate: 25,
            videoBitrate: 100,
            audioBitrate: 20,
            sampleRate: 48_000,
            channels: 1,
            encoder: "Test"
        )
        let body = Peer.pictureBody(1, isKey: true, length: 150_000)
        let sound = MediaPacket.aacFrame(data: [1, 2, 3], timestamp: 0x1_0000_0020)
        line.publisher.write(metadata)
        line.publisher.write(try #require(MediaPacket(videoBody: body, timestamp: 0x1_0000_0010)))
        line.publisher.write(sound)
        try line.carry()
        let packets = line.server.packets
        #expect(packets.map(\.body) == [metadata.body, body, sound.body], "@setDataFrame is for the line alone")
        #expect(packets.map(\.timestamp) == [0, 0x10, 0x20], "times are modulo 2^32 on the line")
        #expect(StreamMetadata(packets[0])?.width == 64)

        line.publisher.finish()
        try line.carry()
        #expect(line.server.streamsEnded == 1)
        #expect(line.ending == nil && !line.publisher.isPublishing)
        line.publisher.write(sound)
        #expect(line.publisher.takeOutput() == nil, "nothing goes out behind the farewell")
    }

    @Test("Media before the server's consent is left out")
    func early() throws {
        var line = try Line(step: .max)
        line.publisher.write(.aacFrame(data: [1], timestamp: 0))
        try line.carry()
        #expect(line.isStarted && line.server.packets.isEmpty)
    }

    @Test("A server that wants no more ends the session with its word")
    func refused() throws {
        var line = try Line(step: .max)
        try line.carry()
        line.server.session.refuse(.publishReplaced)
        line.server.takeOutput()
        try line.carry()
        #expect(line.ending == .publishReplaced)
        #expect(RTMPPublishEnd(.publishReplaced).isFinal && !RTMPPublishEnd(.publishFailed("")).isFinal)
    }

    @Test("An error to the announcement changes nothing, one to connect ends it")
    func errors() throws {
        let address = try #require(RTMPAddress(Self.address))
        for (transaction, isOver) in [(3.0, false), (4, false), (1, true), (2, true)] {
            var publisher = PublishSession(address: address)
            var peer = Peer(bytes: Peer.handshake)
            peer.command("_error", transaction, .null, RTMPStatus.connectRejected("No.").object())
            try publisher.receive(peer.bytes)
            let event = try publisher.next()
            if case .ended(let status) = event {
                #expect(isOver && status == .connectRejected("No."))
            } else {
                #expect(!isOver)
            }
        }
    }
}

extension SessionRun {
    /// What the server wrote since the last call, as it would go over the line.
    fileprivate mutating func takeReplies() -> ByteBuffer {
        defer { rawReplies = ByteBuffer() }
        return rawReplies
    }
}
