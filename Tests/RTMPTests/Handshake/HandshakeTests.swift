import NIOCore
import Testing

@testable import RTMP

@Suite("RTMP handshake")
struct HandshakeTests {
    @Test("writes the reply in one piece and echoes the client's block", arguments: [1, 1000, Int.max])
    func reply(step: Int) throws {
        var handshake = ServerHandshake()
        let first = ByteBuffer(bytes: [3] + (0..<1536).map { UInt8(truncatingIfNeeded: $0) })
        var rest = first
        var input = ByteBuffer()
        var writes: [ByteBuffer] = []
        while rest.readableBytes > 0, let part = rest.readSlice(length: min(step, rest.readableBytes)) {
            var output = ByteBuffer()
            input.writeImmutableBuffer(part)
            try handshake.advance(input: &input, output: &output)
            if output.readableBytes > 0 { writes.append(output) }
        }
        let reply = try #require(writes.first)
        #expect(writes.count == 1)
        #expect(reply.readableBytes == 3073)
        #expect(reply.getInteger(at: 0) == UInt8(3))
        #expect(reply.getSlice(at: 1537, length: 1536) == first.getSlice(at: 1, length: 1536))
        #expect(handshake.state == .expectingEcho)
    }

    @Test("ignores the content of the client's echo and keeps the bytes after it")
    func echoWithFollowingBytes() throws {
        var handshake = ServerHandshake()
        var input = Peer.handshake
        input.writeBytes([1, 2, 3])
        var output = ByteBuffer()
        try handshake.advance(input: &input, output: &output)
        #expect(handshake.state == .done)
        #expect(input == ByteBuffer(bytes: [1, 2, 3]))
    }

    @Test("rejects RTMPE and unknown versions by their first byte", arguments: [0, 2, 6, 22, 71] as [UInt8])
    func versions(version: UInt8) {
        var handshake = ServerHandshake()
        var input = ByteBuffer(bytes: [version])
        var output = ByteBuffer()
        #expect(throws: RTMPViolation.self) {
            try handshake.advance(input: &input, output: &output)
        }
        #expect(output.readableBytes == 0)
    }

    @Test("completes between our client and our server", arguments: [1, 700, Int.max])
    func bothHalves(step: Int) throws {
        var client = ClientHandshake()
        var server = ServerHandshake()
        var toServer = ByteBuffer()
        var toClient = ByteBuffer()
        ClientHandshake.start(output: &toServer)
        try server.advance(input: &toServer, output: &toClient)
        var rest = toClient
        var input = ByteBuffer()
        while rest.readableBytes > 0, let part = rest.readSlice(length: min(step, rest.readableBytes)) {
            input.writeImmutableBuffer(part)
            try client.advance(input: &input, output: &toServer)
        }
        #expect(client.state == .done)
        try server.advance(input: &toServer, output: &toClient)
        #expect(server.state == .done)
    }
}
