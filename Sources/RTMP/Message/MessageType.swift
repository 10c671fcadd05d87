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

    /// The most bytes a message of `type` may have.
    ///
    /// - Parameter acceptsMedia: Whether media is expected from the peer; no message of another is large.
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
