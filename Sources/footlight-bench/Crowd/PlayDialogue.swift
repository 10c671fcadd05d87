import NIOCore

/// The bytes a player sends, written once for a whole crowd (Adobe RTMP specification 1.0).
struct PlayDialogue {
    /// The handshake's first two parts: the version, and a time and filling of zeros.
    let hello: [UInt8]
    /// What follows the server's handshake: its echo, which servers do not look at, and all commands at once.
    let request: [UInt8]

    /// Bytes of the server's half of the handshake.
    static let answerLength = 1 + 1536 + 1536

    init(port: Int, application: String, stream: String) {
        hello = [3] + [UInt8](repeating: 0, count: 1536)
        var bytes = ByteBuffer(repeating: 0, count: 1536)
        // Set Chunk Size: a command then is one chunk.
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
        // The first stream a server makes has the number 1, here and at nginx.
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
