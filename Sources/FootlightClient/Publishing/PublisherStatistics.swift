public import Media

/// How a publisher fares, counted since it was made.
public struct PublisherStatistics: Sendable, Equatable {
    /// Where it stands.
    public var state = PublisherState.idle
    /// Bytes handed to the network, RTMP's own included.
    public var bytesSent: UInt64 = 0
    /// Packets handed to the network.
    public var packetsSent: UInt64 = 0
    /// What was given up because the line was too slow, by kind.
    public var dropped = CongestionQueue.Drops()
    /// Packets that were made while there was no connection, or before the first key picture on one.
    public var missed: UInt64 = 0
    /// Milliseconds of media that wait.
    public var queueMilliseconds: Int64 = 0
    /// Connections that took the place of a lost one.
    public var reconnects = 0

    /// Nothing sent yet.
    public init() {}
}
