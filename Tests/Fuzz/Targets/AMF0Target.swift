import NIOCore

@testable import RTMP

extension FuzzTarget {
    /// AMF0 values, and a command made of them.
    static let amf0 = FuzzTarget("amf0") { input in
        var decoder = AMF0Decoder(input.rest, limits: RTMPLimits())
        if let values = try? decoder.all() {
            var written = ByteBuffer()
            written.writeAMF0(values)
            var again = AMF0Decoder(written, limits: RTMPLimits())
            // Typed objects and references lose what nobody reads; what is left is read as it is written.
            demand((try? again.all())?.count == values.count, "what is written is read")
        }
        let message = RTMPMessage(type: MessageType.command, streamID: 0, timestamp: 0, payload: input.rest)
        guard let command = try? Command(message, limits: RTMPLimits()) else { return }
        let request = ConnectRequest(command.object ?? AMF0Object())
        let target = request.target(command.argument(0)?.string ?? "")
        demand(target.query.count <= 64, "parameters are bounded")
    }
}
