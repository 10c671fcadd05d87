/// One host's place in program time: one offset for its picture and its sound.
///
/// Host time plus `offset` is program time, both in milliseconds. The offset that is wanted is the least delay seen
/// lately plus the jitter target; when one kind of media comes later than the other, the later one decides. The offset
/// in force follows the wanted one slowly: small errors by a servo whose rate the sound's resampling can follow
/// unheard (and whose integral is the drift between the host's clock and ours), large ones in one step.
struct HostTimeline: Sendable {
    /// Arrivals are watched this long before the host is shown: a join begins with a burst of pictures that are old.
    static let settling = 150.0
    /// Within this time after the first step any visible error is stepped over, for nothing is established yet.
    static let youth = 2000.0
    static let youthStep = 40.0
    /// An error beyond this is stepped over at any time.
    static let step = 500.0
    static let deadBand = 3.0
    /// Beyond this error the rate may rise from half a per cent, which nobody hears, to two.
    static let hurryBeyond = 60.0
    static let steadyRate = 0.005
    static let hurriedRate = 0.02
    /// At most so much later is one kind of media believed to be than the other.
    static let largestSkew = 1000.0

    private static let smoothing = 2.0
    private static let proportional = 0.05
    private static let integral = 0.0004
    private static let largestDrift = 0.002

    let target: Double
    private var pictureEdge = LiveEdge()
    private var soundEdge = LiveEdge()
    private var firstArrival: Double?
    private var anchoredAt = 0.0
    private var lastAdvance: Double?
    private var smoothedError = 0.0
    private var drift = 0.0

    /// Program time minus host time in milliseconds; nil until the host has settled.
    private(set) var offset: Double?
    /// Milliseconds the offset gains per millisecond.
    private(set) var rate = 0.0
    /// How often the offset was moved in one step.
    private(set) var steps = 0

    init(target: Double) {
        self.target = target
    }

    /// The host's clock against ours in parts per million; positive when the host's is fast.
    var driftPartsPerMillion: Double { -drift * 1e6 }

    /// The offset to decode by, known from the first packet on; nil before it.
    var provisionalOffset: Double? { offset ?? wanted }

    private var edge: Double? {
        guard let picture = pictureEdge.minimum else { return soundEdge.minimum }
        guard let sound = soundEdge.minimum else { return picture }
        return min(max(picture, sound), min(picture, sound) + Self.largestSkew)
    }

    private var wanted: Double? {
        edge.map { $0 + target }
    }

    /// Takes in that a packet with unified time `timestamp` came at `arrival`, both in milliseconds.
    mutating func observe(_ kind: TimestampUnifier.Kind, timestamp: Int64, arrival: Double) {
        if firstArrival == nil { firstArrival = arrival }
        let delay = arrival - Double(timestamp)
        switch kind {
        case .picture: pictureEdge.observe(delay: delay, arrival: arrival)
        case .sound: soundEdge.observe(delay: delay, arrival: arrival)
        }
        forgetHopelessEdge(kind)
    }

    /// Moves the offset on to program time `now`; called once per quantum by the program's thread.
    mutating func advance(to now: Double) {
        defer { lastAdvance = now }
        guard let firstArrival, let wanted else { return }
        guard let present = offset else {
            guard now - firstArrival >= Self.settling else { return }
            offset = wanted
            anchoredAt = now
            return
        }
        let elapsed = min(max(now - (lastAdvance ?? now), 0), 1000) / 1000
        let error = wanted - present
        if abs(error) > (now - anchoredAt < Self.youth ? Self.youthStep : Self.step) {
            offset = wanted
            smoothedError = 0
            rate = drift
            steps += 1
            return
        }
        smoothedError += (error - smoothedError) * min(elapsed / Self.smoothing, 1)
        let hurried = abs(smoothedError) > Self.hurryBeyond
        let outside = max(abs(smoothedError) - Self.deadBand, 0) / 1000 * (smoothedError < 0 ? -1 : 1)
        if !hurried {
            drift += Self.integral * smoothedError / 1000 * elapsed
            drift = min(max(drift, -Self.largestDrift), Self.largestDrift)
        }
        let limit = hurried ? Self.hurriedRate : Self.steadyRate
        rate = min(max(Self.proportional * outside + drift, -limit), limit)
        offset = present + rate * elapsed * 1000
    }

    /// When everything of late has come after its turn, the window's old minimum is of no use any more.
    private mutating func forgetHopelessEdge(_ kind: TimestampUnifier.Kind) {
        let edge = kind == .picture ? pictureEdge : soundEdge
        guard let recent = edge.settledRecent, let minimum = edge.minimum, recent - minimum > target else { return }
        switch kind {
        case .picture: pictureEdge.keepRecent()
        case .sound: soundEdge.keepRecent()
        }
    }
}
