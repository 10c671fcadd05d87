public import Stage

/// What all feeds of a gateway hold for their viewers at one moment.
public struct AudienceLoad: Sendable, Equatable {
    /// RTMP and HTTP-FLV viewers, counted ones and others.
    public let viewers: Int
    /// Bytes of groups of pictures kept for joiners, every copy counted.
    public let cachedBytes: Int
    /// Bytes that wait for viewers whose sockets do not take them; viewers share most of them.
    public let queuedBytes: Int
    /// Whether new viewers are sent away because memory is short.
    public let isHeld: Bool
    /// Viewers sent away since the start for want of room, by how they came.
    public let refused: [PlaybackProtocol: UInt64]
    /// Bytes of media and playlists that viewers were given since the start, by how they watch.
    public let sent: [PlaybackProtocol: UInt64]
}
