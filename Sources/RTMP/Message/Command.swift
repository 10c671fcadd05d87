import NIOCore

/// A call of one peer to the other: a name, a number to answer to, and values.
struct Command: Equatable {
    var name: String
    /// 0 when no answer is wanted.
    var transaction: Double
    /// The command object, when there is one.
    var object: AMF0Object?
    /// What follows the command object.
    var arguments: [AMF0Value]

    /// Reads a command message (type 17 or 20).
    ///
    /// A message of type 17 begins with a zero byte; what follows is AMF0 in everything that is in use.
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

    /// The argument at `index`; nil when there are not so many.
    func argument(_ index: Int) -> AMF0Value? {
        arguments.indices.contains(index) ? arguments[index] : nil
    }
}
