/// Something that takes a feed's packets as they come.
public protocol PacketSink: AnyObject, Sendable {
    /// Takes one packet. Called on the feed's own event loop, in feed order; returns at once and never blocks.
    func receive(_ packet: MediaPacket)
}
