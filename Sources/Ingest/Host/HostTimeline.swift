import Media

/// Puts a host's timestamps on its feed's clock.
///
/// In: decode times as the encoder wrote them, which may begin anywhere, step back, or leap by hours. Out: milliseconds
/// on the feed's clock, where the first packet of each connection lies at the time of its arrival. One offset serves
/// picture and sound, so their relation is never altered; small steps within the stream pass through as they are.
struct HostTimeline {
    /// A step that differs from the time that really passed by more than this is a new clock, in milliseconds.
    static let jump: Int64 = 2_000

    private let origin: MonotonicTime
    private var offset: Int64?
    private var last: (timestamp: Int64, arrival: MonotonicTime)?
    /// How often the encoder's clock leapt.
    private(set) var jumps = 0

    /// - Parameter origin: When the feed's clock stood at 0.
    init(origin: MonotonicTime) {
        self.origin = origin
    }

    mutating func place(_ timestamp: Int64, arrival: MonotonicTime) -> Int64 {
        if let last, let offset {
            let step = timestamp - last.timestamp
            let passed = arrival.milliseconds - last.arrival.milliseconds
            // A burst after a stall advances by small steps while no time passes: that is no jump. A pause of the
            // encoder advances by as much as passed: nor is that.
            if abs(step) <= Self.jump || abs(step - passed) <= Self.jump {
                self.last = (timestamp, arrival)
                return timestamp + offset
            }
            jumps += 1
        }
        let offset = arrival.milliseconds - origin.milliseconds - timestamp
        self.offset = offset
        last = (timestamp, arrival)
        return timestamp + offset
    }
}
