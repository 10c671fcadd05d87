/// Carries a feed's timestamps over a change of publisher, so that whoever reads the feed sees one rising clock.
///
/// In: each publisher's own decode times, which may begin anywhere. Out: milliseconds that begin at 0 with the feed's
/// first packet and never decrease; the time between the old publisher's last packet and the new one's first appears
/// as a gap of the same length, so the program's clock keeps to the real one.
public struct ProgramTimeline: Sendable {
    private var offset: Int64?
    private var last: (timestamp: Int64, arrival: MonotonicTime)?

    /// A clock that has not begun.
    public init() {}

    /// The last time given out, in milliseconds; nil before the first packet.
    public var lastTimestamp: Int64? { last?.timestamp }

    /// A new publisher takes over: its first packet will be placed behind what was given out.
    public mutating func beginPublisher() {
        offset = nil
    }

    /// The feed's time for a packet of the present publisher.
    ///
    /// - Parameters:
    ///   - timestamp: The publisher's decode time in milliseconds.
    ///   - arrival: When the packet came in.
    public mutating func place(_ timestamp: Int64, arrival: MonotonicTime) -> Int64 {
        let shift: Int64
        if let offset {
            shift = offset
        } else {
            let start =
                last.map { $0.timestamp + max(1, arrival.milliseconds - $0.arrival.milliseconds) } ?? 0
            shift = start - timestamp
            offset = shift
        }
        let placed = max(timestamp + shift, last?.timestamp ?? 0)
        last = (placed, arrival)
        return placed
    }
}
