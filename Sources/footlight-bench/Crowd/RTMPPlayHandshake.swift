import NIOCore

/// The bytes that an RTMP player sends, encoded once for a whole crowd (Adobe RTMP specification 1.0).
struct RTMPPlayHandshake {
    /// C0 and C1 of the handshake: the version, and a timestamp and filler of zeros.
    let opening: [UInt8]
    /// C2, which servers do not verify, followed by all commands at once.
    let request: [UInt8]

    /// Bytes of S0, S1 and S2.
    static let responseLength = 1 + 1536 + 1536

    init(port: Int, application: String, stream: String) {
        opening = [3] + [UInt8](repeating: 0, count: 1536)
        var bytes = ByteBuffer(repeating: 0, count: 1536)
        // Set Chunk Size: each command then fits into one chunk.
        Self.message(type: 1, chunkStream: 2, stream: 0, ByteBuffer(integer: UInt32(4096)), to: &bytes)
        var connect = ByteBuffer()
        connect.writeText("connect")
        connect.writeNumber(1)
        connect.writeInteger(UInt8(3))
        connect.writeField("app", application)
        connect.writeField("flashVer", "LNX 9,0,124,2")
        connect.writeField("tcUrl", "rtmp://127.0.0.1:\(port)/\(application)")
        connect.writeBytes([0, 0, 9])
        Self.message(type: 20, chunkStream: 3, stream: 0, connect, to: &bytes)
        var create = ByteBuffer()
        create.writeText("createStream")
        create.writeNumber(2)
        create.writeInteger(UInt8(5))
        Self.message(type: 20, chunkStream: 3, stream: 0, create, to: &bytes)
        var play = ByteBuffer()
        play.writeText("play")
        play.writeNumber(3)
        play.writeInteger(UInt8(5))
        play.writeText(stream)
        // The first stream created has the ID 1, both here and at nginx.
        Self.message(type: 20, chunkStream: 8, stream: 1, play, to: &bytes)
        request = Array(bytes.readableBytesView)
    }

    private static func message(
        type: UInt8,
        chunkStream: UInt8,
        stream: UInt32,
        _ body: ByteBuffer,
        to bytes: inout ByteBuffer
    ) {
        bytes.writeInteger(chunkStream)
        bytes.writeBytes([0, 0, 0])
        bytes.writeInteger(UInt8(0))
        bytes.writeInteger(UInt16(body.readableBytes))
        bytes.writeInteger(type)
        bytes.writeInteger(stream, endianness: .little)
        bytes.writeImmutableBuffer(body)
    }
}

extension ByteBuffer {
    fileprivate mutating func writeText(_ text: String) {
        writeInteger(UInt8(2))
        writeName(text)
    }

    fileprivate mutating func writeNumber(_ number: Double) {
        writeInteger(UInt8(0))
        writeInteger(number.bitPattern)
    }

    fileprivate mutating func writeField(_ name: String, _ value: String) {
        writeName(name)
        writeText(value)
    }

    private mutating func writeName(_ text: String) {
        writeInteger(UInt16(text.utf8.count))
        writeString(text)
    }
}
