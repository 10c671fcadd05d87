import NIOCore

/// The server's half of the handshake: 3,073 bytes of the peer's, which the session keeps until they are whole.
///
/// The reply to the client's first block leaves in one piece, because some encoders do not take it in fragments. The
/// client's last block is only counted, never compared: few clients echo what the specification asks for.
struct ServerHandshake {
    enum State: Equatable {
        case expectingFirst
        case expectingEcho
        case done
    }

    private(set) var state = State.expectingFirst

    /// Consumes what is complete at the front of `input` and appends the reply to `output`.
    ///
    /// - Throws: A violation for any version but 3, RTMPE (6) among them.
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
