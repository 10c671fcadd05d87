import Media
import NIOCore
import TestSupport
import Testing

@testable import RTMP

@Suite("Publish session", .enabled(if: TestRun.isFull))
struct PublishSessionTests {
    private static let address = "rtmp://127.0.0.1:1935/live/sk_key?token=t"

    /// Our publisher and our server, connected by a link that delivers a limited number of bytes at a time.
    private struct Link {
        var publisher: PublishSession
        var server = SessionRun(ByteBuffer())
        var isStarted = false
        var ending: RTMPStatus?
        let step: Int

        init(step: Int) throws {
            publisher = PublishSession(address: try #require(RTMPAddress(PublishSessionTests.address)))
            self.step = step
        }

        /// Transfers bytes in both directions until both sides are idle.
        mutating func exchange() throws {
            for _ in 0..<8 {
                if let output = publisher.drainOutput() { server.feed(output, step: step) }
                // The run parses the replies, so they are also recorded unparsed for the publisher.
                try deliver(server.drainReplies())
            }
        }

        private mutating func deliver(_ bytes: ByteBuffer) throws {
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

    @Test("publishes to our server from the handshake to the end", arguments: [1, 999, Int.max])
    func whole(step: Int) throws {
        var link = try Link(step: step)
        try link.exchange()
        #expect(link.isStarted && link.publisher.isPublishing)
        let request = try #require(link.server.publishes.first)
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
        let body = Peer.videoBody(1, isKey: true, length: 150_000)
        let audio = MediaPacket.aacFrame(data: [1, 2, 3], timestamp: 0x1_0000_0020)
        link.publisher.write(metadata)
        link.publisher.write(try #require(MediaPacket(videoBody: body, timestamp: 0x1_0000_0010)))
        link.publisher.write(audio)
        try link.exchange()
        let packets = link.server.packets
        #expect(packets.map(\.body) == [metadata.body, body, audio.body], "@setDataFrame is only sent on the wire")
        #expect(packets.map(\.timestamp) == [0, 0x10, 0x20], "timestamps are modulo 2^32 on the wire")
        #expect(StreamMetadata(packets[0])?.width == 64)

        link.publisher.finish()
        try link.exchange()
        #expect(link.server.streamsEnded == 1)
        #expect(link.ending == nil && !link.publisher.isPublishing)
        link.publisher.write(audio)
        #expect(link.publisher.drainOutput() == nil, "no output after the end")
    }

    @Test("discards media before the server's consent")
    func early() throws {
        var link = try Link(step: .max)
        link.publisher.write(.aacFrame(data: [1], timestamp: 0))
        try link.exchange()
        #expect(link.isStarted && link.server.packets.isEmpty)
    }

    @Test("ends with the server's status when the server refuses")
    func refused() throws {
        var link = try Link(step: .max)
        try link.exchange()
        link.server.session.refuse(.publishReplaced)
        link.server.drainOutput()
        try link.exchange()
        #expect(link.ending == .publishReplaced)
        #expect(RTMPPublishEnd(.publishReplaced).isFinal && !RTMPPublishEnd(.publishFailed("")).isFinal)
    }

    @Test("ignores an error for the announcement and ends after one for connect")
    func errors() throws {
        let address = try #require(RTMPAddress(Self.address))
        for (transaction, isFatal) in [(3.0, false), (4, false), (1, true), (2, true)] {
            var publisher = PublishSession(address: address)
            var peer = Peer(bytes: Peer.handshake)
            peer.command("_error", transaction, .null, RTMPStatus.connectRejected("No.").object())
            try publisher.receive(peer.bytes)
            let event = try publisher.next()
            if case .ended(let status) = event {
                #expect(isFatal && status == .connectRejected("No."))
            } else {
                #expect(!isFatal)
            }
        }
    }
}

extension SessionRun {
    /// Returns and clears the server's output.
    fileprivate mutating func drainReplies() -> ByteBuffer {
        defer { rawReplies = ByteBuffer() }
        return rawReplies
    }
}

@Suite("RTMP addresses")
struct RTMPAddressTests {
    @Test("parses host, port, application, name and query")
    func parts() throws {
        let address = try #require(RTMPAddress("rtmp://example.org:1936/live/a/room?token=a/b?c"))
        #expect(address.host == "example.org")
        #expect(address.port == 1936)
        #expect(address.app == "live/a")
        #expect(address.name == "room?token=a/b?c")
        #expect(address.tcURL == "rtmp://example.org:1936/live/a")
        #expect(RTMPAddress("rtmp://[::1]/live/room")?.host == "::1")
        #expect(RTMPAddress("rtmp://h/live/room")?.port == 1935)
        #expect(!address.isSecure)
    }

    @Test("parses rtmps URLs with their default port 443")
    func secure() throws {
        let address = try #require(RTMPAddress("rtmps://example.org/live/room"))
        #expect(address.isSecure && address.port == 443)
        #expect(address.tcURL == "rtmps://example.org/live")
        #expect(RTMPAddress("RTMPS://h:8443/live/room")?.port == 8443)
    }

    @Test(
        "rejects invalid addresses",
        arguments: [
            "", "http://h/a/b", "rtmp://", "rtmp://h", "rtmp://h/live", "rtmp://:1/a/b", "rtmp://h:0/a/b",
            "rtmp://h:x/a/b",
        ]
    )
    func bad(url: String) {
        #expect(RTMPAddress(url) == nil)
    }
}
