import Media

/// Maps a host's timestamps to its feed's clock.
///
/// The input is the encoder's decode times, which may begin at any value, step back, or jump by hours. The output is
/// milliseconds on the feed's clock, on which the first packet of each connection has its arrival time. Audio and video
/// share one offset, so A/V sync is unchanged; small steps are preserved.
///
/// The mapping lasts as long as the connection. It keeps encoder faults out of the feed, whose queues are limited in
/// milliseconds and whose timestamps are sent in 32 bits. The mixer unifies the clocks of a host's successive
/// connections (`TimestampUnifier`).
struct PublishTimeline {
    /// The difference in milliseconds between a timestamp step and the elapsed time that indicates a new clock.
    static let jump: Int64 = 2_000
    /// The backward step of a single track in milliseconds that indicates a new clock.
    static let backwardJump: Int64 = 250

    private let origin: MonotonicTime
    private var offset: Int64?
    private var last: (timestamp: Int64, arrival: MonotonicTime)?
    private var lastVideo: Int64?
    private var lastAudio: Int64?
    /// The number of clock jumps.
    private(set) var jumps = 0

    /// - Parameter origin: The zero of the feed's clock.
    init(origin: MonotonicTime) {
        self.origin = origin
    }

    /// Returns the packet's decode time on the feed's clock.
    mutating func rebase(_ packet: MediaPacket, arrival: MonotonicTime) -> Int64 {
        let timestamp = packet.timestamp
        if packet.isConfiguration { return rebaseConfiguration(packet, arrival: arrival) }
        if let last, let offset {
            if isContinuous(packet, last: last, arrival: arrival) {
                record(packet, arrival: arrival)
                return timestamp + offset
            }
            jumps += 1
            // The other track has not switched to the new clock yet, so its next step is not evaluated.
            lastVideo = nil
            lastAudio = nil
        }
        let offset = arrival.milliseconds - origin.milliseconds - timestamp
        self.offset = offset
        record(packet, arrival: arrival)
        return timestamp + offset
    }

    /// Maps a configuration; many encoders stamp metadata and headers with 0, so they do not affect the clock.
    private func rebaseConfiguration(_ packet: MediaPacket, arrival: MonotonicTime) -> Int64 {
        guard let last, let offset else { return arrival.milliseconds - origin.milliseconds }
        let isNear = abs(packet.timestamp - last.timestamp) <= Self.backwardJump
        return (isNear ? packet.timestamp : last.timestamp) + offset
    }

    private func isContinuous(
        _ packet: MediaPacket,
        last: (timestamp: Int64, arrival: MonotonicTime),
        arrival: MonotonicTime
    ) -> Bool {
        let track = packet.isVideo ? lastVideo : packet.isAudio ? lastAudio : nil
        if let track, packet.timestamp < track - Self.backwardJump { return false }
        // A burst after a stall has small steps while no time passes, and after an encoder's pause the step equals the
        // elapsed time; neither is a jump.
        let step = packet.timestamp - last.timestamp
        let passed = arrival.milliseconds - last.arrival.milliseconds
        return abs(step) <= Self.jump || abs(step - passed) <= Self.jump
    }

    private mutating func record(_ packet: MediaPacket, arrival: MonotonicTime) {
        last = (packet.timestamp, arrival)
        if packet.isVideo { lastVideo = packet.timestamp }
        if packet.isAudio { lastAudio = packet.timestamp }
    }
}
