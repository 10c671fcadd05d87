import NIOCore

/// One whole message as it left the chunk layer.
struct RTMPMessage: Equatable {
    /// See `MessageType`.
    var type: UInt8
    var streamID: UInt32
    /// Milliseconds modulo 2^32, as the peer counts them.
    var timestamp: UInt32
    var payload: ByteBuffer
}
