import NIOCore

/// The client's half of the handshake.
struct ClientHandshake {
    enum State: Equatable {
        case expectingReply
        case done
    }

    private(set) var state = State.expectingReply

    /// Appends the version byte and our first block: what opens a connection.
    static func start(output: inout ByteBuffer) {
        output.writeInteger(Handshake.version)
        Handshake.writeBlock(to: &output)
    }

    /// Waits for the server's whole reply and answers with an echo of its block.
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
