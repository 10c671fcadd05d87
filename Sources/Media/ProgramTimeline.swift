/// Rebases a feed's timestamps across changes of publisher, so that readers see one monotonic clock.
///
/// Input: each publisher's own decode times, with any origin. Output: milliseconds that begin at 0 with the feed's
/// first packet and never decrease within video, nor within audio, so an encoder that sends one well behind the other
/// keeps A/V sync. The time between the old publisher's last packet and the new one's first becomes a gap of the same
/// length, so the program's clock follows real time.
public struct ProgramTimeline: Sendable {
    private var offset: Int64?
    /// The latest timestamp returned, and when its packet arrived.
    private var last: (timestamp: Int64, arrival: MonotonicTime)?
    /// The lowest timestamps allowed next, for audio and for everything else.
    private var minimumAudioTimestamp: Int64 = 0
    private var minimumVideoTimestamp: Int64 = 0

    /// Makes a timeline without packets.
    public init() {}

    /// Starts a new publisher, whose first packet is placed after the latest timestamp returned.
    public mutating func beginPublisher() {
        offset = nil
        if let last { (minimumAudioTimestamp, minimumVideoTimestamp) = (last.timestamp, last.timestamp) }
    }

    /// Returns the feed's timestamp for a packet of the current publisher.
    ///
    /// - Parameters:
    ///   - packet: With its publisher's decode time in milliseconds.
    ///   - arrival: When the packet arrived.
    public mutating func place(_ packet: MediaPacket, arrival: MonotonicTime) -> Int64 {
        let shift: Int64
        if let offset {
            shift = offset
        } else {
            let start =
                last.map { $0.timestamp + max(1, arrival.milliseconds - $0.arrival.milliseconds) } ?? 0
            shift = start - packet.timestamp
            offset = shift
        }
        let placed = max(packet.timestamp + shift, packet.isAudio ? minimumAudioTimestamp : minimumVideoTimestamp)
        if packet.isAudio { minimumAudioTimestamp = placed } else { minimumVideoTimestamp = placed }
        if placed >= last?.timestamp ?? 0 { last = (placed, arrival) }
        return placed
    }
}
