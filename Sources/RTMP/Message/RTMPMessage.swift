import NIOCore

/// A complete message, as returned by the chunk layer.
struct RTMPMessage: Equatable {
    /// See `MessageType`.
    var type: UInt8
    var streamID: UInt32
    /// Milliseconds modulo 2^32, on the peer's clock.
    var timestamp: UInt32
    var payload: ByteBuffer
}

/// The type byte of an RTMP message (RTMP 1.0, 5.4 and 7.1).
enum MessageType {
    static let setChunkSize: UInt8 = 1
    static let abort: UInt8 = 2
    static let acknowledgement: UInt8 = 3
    static let userControl: UInt8 = 4
    static let windowAcknowledgementSize: UInt8 = 5
    static let setPeerBandwidth: UInt8 = 6
    static let audio: UInt8 = 8
    static let video: UInt8 = 9
    static let dataAMF3: UInt8 = 15
    static let commandAMF3: UInt8 = 17
    static let data: UInt8 = 18
    static let command: UInt8 = 20
    static let aggregate: UInt8 = 22

    /// Returns the maximum length in bytes of a message of `type`.
    ///
    /// - Parameter acceptsMedia: Whether media is expected from the peer; otherwise the command limit applies.
    static func maximumLength(of type: UInt8, acceptsMedia: Bool, limits: RTMPLimits) -> Int {
        switch type {
        case audio, video, aggregate: acceptsMedia ? limits.mediaMessageBytes : limits.commandMessageBytes
        default: limits.commandMessageBytes
        }
    }

    /// Whether an aggregate may contain a message of `type`.
    static func isAllowedInAggregate(_ type: UInt8) -> Bool {
        type == audio || type == video || type == data
    }
}

/// An RTMP command: a name, a transaction number and AMF0 values.
struct RTMPCommand: Equatable {
    var name: String
    /// The transaction number; 0 if no result is expected.
    var transaction: Double
    /// The command object, or nil.
    var object: AMF0Object?
    /// The values after the command object.
    var arguments: [AMF0Value]

    /// Parses a command message (type 17 or 20).
    ///
    /// A message of type 17 begins with a zero byte, followed by AMF0 in all known encoders.
    init(_ message: RTMPMessage, limits: RTMPLimits) throws(RTMPViolation) {
        var payload = message.payload
        if message.type == MessageType.commandAMF3, payload.getInteger(at: payload.readerIndex) == UInt8(0) {
            payload.moveReaderIndex(forwardBy: 1)
        }
        var decoder = AMF0Decoder(payload, limits: limits)
        var values: [AMF0Value] = []
        do {
            values = try decoder.all()
        } catch {
            throw RTMPViolation("a command that cannot be read: \(error)")
        }
        guard let name = values.first?.string else { throw RTMPViolation("a command without a name") }
        self.name = name
        transaction = values.count > 1 ? values[1].number ?? 0 : 0
        object = values.count > 2 ? values[2].object : nil
        arguments = Array(values.dropFirst(3))
    }

    /// Returns the argument at `index`, or nil if there are fewer.
    func argument(_ index: Int) -> AMF0Value? {
        arguments.indices.contains(index) ? arguments[index] : nil
    }
}
