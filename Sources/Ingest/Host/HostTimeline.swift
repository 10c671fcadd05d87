import Media

/// Puts a host's timestamps on its feed's clock.
///
/// In: decode times as the encoder wrote them, which may begin anywhere, step back, or leap by hours. Out: milliseconds
/// on the feed's clock, where the first packet of each connection lies at the time of its arrival. One offset serves
/// picture and sound, so their relation is never altered; small steps within the stream pass through as they are.
///
/// This clock lives as long as the connection. It keeps what encoders do out of the feed: its queues are bounded in
/// milliseconds, and its readers are told 32 bits of them. That a host is one host over all its connections is the
/// mixer's business, which makes one clock of theirs (`TimestampUnifier`).
struct HostTimeline {
    /// A step that differs from the time that really passed by more than this is a new clock, in milliseconds.
    static let jump: Int64 = 2_000
    /// Sound or picture by itself never steps back; one that does by more than this has a new clock, in milliseconds.
    static let backwardJump: Int64 = 250

    private let origin: MonotonicTime
    private var offset: Int64?
    private var last: (timestamp: Int64, arrival: MonotonicTime)?
    private var lastPicture: Int64?
    private var lastSound: Int64?
    /// How often the encoder's clock leapt.
    private(set) var jumps = 0

    /// - Parameter origin: When the feed's clock stood at 0.
    init(origin: MonotonicTime) {
        self.origin = origin
    }

    /// The packet's decode time on the feed's clock.
    mutating func place(_ packet: MediaPacket, arrival: MonotonicTime) -> Int64 {
        let timestamp = packet.timestamp
        if packet.isConfiguration { return placeConfiguration(packet, arrival: arrival) }
        if let last, let offset {
            if isContinuous(packet, last: last, arrival: arrival) {
                note(packet, arrival: arrival)
                return timestamp + offset
            }
            jumps += 1
            // The other track has not got the new clock yet: its next step says nothing.
            lastPicture = nil
            lastSound = nil
        }
        let offset = arrival.milliseconds - origin.milliseconds - timestamp
        self.offset = offset
        note(packet, arrival: arrival)
        return timestamp + offset
    }

    /// Many encoders stamp metadata and headers with 0 at any time; they go where the media is, and set no clock.
    private func placeConfiguration(_ packet: MediaPacket, arrival: MonotonicTime) -> Int64 {
        guard let last, let offset else { return arrival.milliseconds - origin.milliseconds }
        let isNear = abs(packet.timestamp - last.timestamp) <= Self.backwardJump
        return (isNear ? packet.timestamp : last.timestamp) + offset
    }

    private func isContinuous(
        _ packet: MediaPacket,
        last: (timestamp: Int64, arrival: MonotonicTime),
        arrival: MonotonicTime
    ) -> Bool {
        let track = packet.isVideo ? lastPicture : packet.isAudio ? lastSound : nil
        if let track, packet.timestamp < track - Self.backwardJump { return false }
        // A burst after a stall advances by small steps while no time passes: that is no jump. A pause of the encoder
        // advances by as much as passed: nor is that.
        let step = packet.timestamp - last.timestamp
        let passed = arrival.milliseconds - last.arrival.milliseconds
        return abs(step) <= Self.jump || abs(step - passed) <= Self.jump
    }

    private mutating func note(_ packet: MediaPacket, arrival: MonotonicTime) {
        last = (packet.timestamp, arrival)
        if packet.isVideo { lastPicture = packet.timestamp }
        if packet.isAudio { lastSound = packet.timestamp }
    }
}
