/// Carries a feed's timestamps over a change of publisher, so that whoever reads the feed sees one rising clock.
///
/// In: each publisher's own decode times, which may begin anywhere. Out: milliseconds that begin at 0 with the feed's
/// first packet and never decrease among the pictures, nor among the sound: encoders that send one well behind the other
/// keep the two together. The time between the old publisher's last packet and the new one's first appears as a gap of
/// the same length, so the program's clock keeps to the real one.
public struct ProgramTimeline: Sendable {
    private var offset: Int64?
    /// The latest time of all, and when it came.
    private var last: (timestamp: Int64, arrival: MonotonicTime)?
    /// The least that may be given out for sound, and for all else.
    private var leastSound: Int64 = 0
    private var leastPicture: Int64 = 0

    /// A clock that has not begun.
    public init() {}

    /// A new publisher takes over: its first packet will be placed behind what was given out.
    public mutating func beginPublisher() {
        offset = nil
        if let last { (leastSound, leastPicture) = (last.timestamp, last.timestamp) }
    }

    /// The feed's time for a packet of the present publisher.
    ///
    /// - Parameters:
    ///   - packet: With its publisher's decode time in milliseconds.
    ///   - arrival: When it came in.
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
        let placed = max(packet.timestamp + shift, packet.isAudio ? leastSound : leastPicture)
        if packet.isAudio { leastSound = placed } else { leastPicture = placed }
        if placed >= last?.timestamp ?? 0 { last = (placed, arrival) }
        return placed
    }
}
