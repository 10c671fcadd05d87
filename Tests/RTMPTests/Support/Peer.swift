import NIOCore

@testable import RTMP

/// Writes what an encoder or player sends, byte for byte.
struct Peer {
    var bytes = ByteBuffer()
    var chunkSize = 128

    /// The handshake with nothing behind it; the server never looks into the blocks.
    static var handshake: ByteBuffer {
        var bytes = ByteBuffer(bytes: [3])
        bytes.writeRepeatingByte(7, count: 2 * 1536)
        return bytes
    }

    /// The handshake, and `connect` with usual properties.
    static func connected(_ properties: AMF0Object = ["app": "live", "tcUrl": "rtmp://host/live"]) -> Peer {
        var peer = Peer(bytes: handshake)
        peer.command("connect", 1, .object(properties))
        return peer
    }

    /// Everything up to `publish`.
    static func publishing(_ name: AMF0Value = "sk_key", chunkSize: Int = 128) -> Peer {
        var peer = connected()
        if chunkSize != 128 { peer.setChunkSize(chunkSize) }
        peer.command("createStream", 2, .null)
        peer.command("publish", 3, .null, name, "live", streamID: 1)
        return peer
    }

    mutating func command(_ name: String, _ transaction: Double, _ values: AMF0Value..., streamID: UInt32 = 0) {
        var payload = ByteBuffer()
        payload.writeAMF0([.string(name), .number(transaction)] + values)
        message(20, payload, streamID: streamID, chunkStream: 3)
    }

    mutating func setChunkSize(_ size: Int) {
        message(1, ByteBuffer(integer: UInt32(size)), chunkStream: 2)
        chunkSize = size
    }

    mutating func message(
        _ type: UInt8,
        _ payload: ByteBuffer,
        timestamp: UInt32 = 0,
        streamID: UInt32 = 0,
        chunkStream: UInt8 = 6
    ) {
        let message = RTMPMessage(type: type, streamID: streamID, timestamp: timestamp, payload: payload)
        bytes.writeChunks(message, chunkStream: chunkStream, chunkSize: chunkSize)
    }

    /// An H.264 picture of a recognisable body.
    mutating func picture(_ timestamp: UInt32, isKey: Bool = false, length: Int = 300) {
        message(9, Self.pictureBody(timestamp, isKey: isKey, length: length), timestamp: timestamp, streamID: 1)
    }

    mutating func sound(_ timestamp: UInt32, length: Int = 20) {
        var body = ByteBuffer(bytes: [0xAF, 1])
        body.writeRepeatingByte(UInt8(truncatingIfNeeded: timestamp), count: length)
        message(8, body, timestamp: timestamp, streamID: 1, chunkStream: 4)
    }

    /// Everything up to `play`.
    static func playing() -> Peer {
        var peer = connected()
        peer.command("createStream", 2, .null)
        peer.command("play", 4, .null, "room", streamID: 1)
        return peer
    }

    /// The body of an aggregate of the same message over and over.
    static func aggregate(of type: UInt8, _ payload: ByteBuffer, bytes: Int) -> ByteBuffer {
        var tag = ByteBuffer()
        tag.writeInteger(type)
        tag.writeInteger24(UInt32(payload.readableBytes))
        tag.writeRepeatingByte(0, count: 7)
        tag.writeImmutableBuffer(payload)
        tag.writeInteger(UInt32(payload.readableBytes + 11))
        var body = ByteBuffer()
        while body.readableBytes + tag.readableBytes <= bytes { body.writeImmutableBuffer(tag) }
        return body
    }

    static func pictureBody(_ seed: UInt32, isKey: Bool = false, length: Int = 300) -> ByteBuffer {
        var body = ByteBuffer(bytes: [isKey ? 0x17 : 0x27, 1, 0, 0, 0])
        body.writeInteger(UInt32(length))
        let pattern = min(length, 300)
        for index in 0..<pattern { body.writeInteger(UInt8(truncatingIfNeeded: index &+ Int(seed))) }
        body.writeRepeatingByte(UInt8(truncatingIfNeeded: seed), count: length - pattern)
        return body
    }
}
