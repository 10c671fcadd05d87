/// Something that takes a feed's packets as they come.
public protocol PacketSink: AnyObject, Sendable {
    /// Takes one packet. Called on the feed's own event loop, in feed order; returns at once and never blocks.
    func receive(_ packet: MediaPacket)
    /// What comes next is from another publisher: time goes on, but the stream was cut. Called like `receive`.
    func publisherChanged()
}

extension PacketSink {
    /// A sink to which a change of publisher means nothing.
    public func publisherChanged() {}
}
