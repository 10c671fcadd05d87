public import Media

/// One publisher's way into a feed.
///
/// Two connections of one host may overlap: the newer one is let in while packets of the older are still under way on
/// another event loop. Those would be placed with the newer one's clock, far from where they belong, and the feed's
/// time, which never goes back, would stand there. So each connection has its own publisher, and once a newer one has
/// taken over, nothing an older one sends enters the feed.
public final class FeedPublisher: PacketSink {
    private let feed: Feed
    private let number: UInt64
    private let epoch: UInt64

    init(feed: Feed, number: UInt64, epoch: UInt64) {
        self.feed = feed
        self.number = number
        self.epoch = epoch
    }

    /// Takes the feed over, unless a newer publisher has; any thread.
    public func publisherChanged() {
        feed.takeOver(number, epoch: epoch)
    }

    /// Takes one packet with the publisher's own timestamp; dropped when this publisher does not hold the feed.
    ///
    /// Any thread.
    public func receive(_ packet: MediaPacket) {
        feed.receive(packet, from: number)
    }
}
