import NIOCore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The simple RTMP handshake (RTMP 1.0, 5.2): a version byte, then two blocks of 1536 bytes in each direction.
enum Handshake {
    static let version: UInt8 = 3
    static let blockLength = 1536

    /// Appends a block: a zero timestamp, four zero bytes, and random bytes.
    static func writeBlock(to buffer: inout ByteBuffer) {
        buffer.writeRepeatingByte(0, count: 8)
        let count = blockLength - 8
        // One call for all bytes: `SystemRandomNumberGenerator` makes a system call for every eight.
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { bytes in
            guard let start = bytes.baseAddress else { return 0 }
            arc4random_buf(start, count)
            return count
        }
    }
}

/// The client side of the handshake.
struct ClientHandshake {
    enum State: Equatable {
        case expectingReply
        case done
    }

    private(set) var state = State.expectingReply

    /// Appends the version byte and the first block.
    static func start(output: inout ByteBuffer) {
        output.writeInteger(Handshake.version)
        Handshake.writeBlock(to: &output)
    }

    /// Waits for the server's complete reply and answers with an echo of its block.
    mutating func advance(input: inout ByteBuffer, output: inout ByteBuffer) throws(RTMPViolation) {
        guard state == .expectingReply else { return }
        if let version = input.getInteger(at: input.readerIndex, as: UInt8.self), version != Handshake.version {
            throw RTMPViolation("the server speaks RTMP version \(version)")
        }
        guard input.readableBytes > 2 * Handshake.blockLength else { return }
        input.moveReaderIndex(forwardBy: 1)
        guard let first = input.readSlice(length: Handshake.blockLength) else { return }
        input.moveReaderIndex(forwardBy: Handshake.blockLength)
        output.writeImmutableBuffer(first)
        state = .done
    }
}

/// The server side of the handshake, which consumes 3,073 bytes of the peer.
///
/// The reply to the client's first block is written in one piece because some encoders do not accept fragments. The
/// client's last block is counted but not compared, since few clients echo what the specification requires.
struct ServerHandshake {
    enum State: Equatable {
        case expectingFirst
        case expectingEcho
        case done
    }

    private(set) var state = State.expectingFirst

    /// Consumes the complete parts at the front of `input` and appends the reply to `output`.
    ///
    /// - Throws: A violation for any version other than 3, including RTMPE (6).
    mutating func advance(input: inout ByteBuffer, output: inout ByteBuffer) throws(RTMPViolation) {
        if state == .expectingFirst {
            if let version = input.getInteger(at: input.readerIndex, as: UInt8.self), version != Handshake.version {
                throw RTMPViolation(version == 6 ? "RTMPE is not supported" : "unknown RTMP version \(version)")
            }
            guard input.readableBytes > Handshake.blockLength else { return }
            input.moveReaderIndex(forwardBy: 1)
            guard let first = input.readSlice(length: Handshake.blockLength) else { return }
            output.reserveCapacity(minimumWritableBytes: 1 + 2 * Handshake.blockLength)
            output.writeInteger(Handshake.version)
            Handshake.writeBlock(to: &output)
            output.writeImmutableBuffer(first)
            state = .expectingEcho
        }
        if state == .expectingEcho, input.readableBytes >= Handshake.blockLength {
            input.moveReaderIndex(forwardBy: Handshake.blockLength)
            state = .done
        }
    }
}
