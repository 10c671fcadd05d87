/// One host's place in program time: one offset for its picture and its sound.
///
/// Host time plus `offset` is program time, both in milliseconds. The offset that is wanted is the least delay seen
/// lately plus the jitter target; when one kind of media comes later than the other, the later one decides. The offset
/// in force follows the wanted one slowly: small errors by a servo whose rate the sound's resampling can follow
/// unheard, on top of the drift between the host's clock and ours (its integral, until that is measured), large ones in
/// one step.
///
/// Sound is mixed ahead of the pictures beside it (see `ProgramTime.soundLead`), so of a small target nothing would be
/// left for it to be late in. What it needs therefore counts from its own lead, and grows with the jitter that is
/// really seen, up to the target.
///
/// A host that sends slower than time passes, or whose way has become longer, comes too late for good. It is waited for
/// anew then: half a second of sound is lost, and what follows is heard until that is used up.
///
/// What came is looked at only once it is `patience` old. By then every thread has delivered what arrived before, so
/// each decision follows from the times of arrival alone, and a recording of them repeats it exactly.
struct HostTimeline: Sendable {
    /// Arrivals are watched this long before the host is shown: a join begins with a burst of pictures that are old.
    static let settling = 150.0
    /// Within this time after the first step any visible error is stepped over, for nothing is established yet.
    static let youth = 2000.0
    static let youthStep = 40.0
    /// Of a target up to this many milliseconds nothing is to be given away, and sound has hardly anything to spare.
    static let smallTarget = 150.0
    /// With a small target, and within its youth, a host is moved back at once by more than this: else its sound would
    /// be missing again and again.
    static let youthRise = 8.0
    /// With a small target, for so long after the first step, what a host is held back too long is taken away faster.
    static let early = 15_000.0
    /// An error beyond this is stepped over at any time.
    static let step = 500.0
    /// So long everything must have come too late, in milliseconds, before a host is waited for anew.
    static let starving = 500.0
    /// Who makes up for more than this in that time is about to be in time by itself.
    static let catchingUp = 50.0
    static let deadBand = 3.0
    /// Beyond this error the rate may rise from half a per cent, which nobody hears, to two.
    static let hurryBeyond = 60.0
    static let steadyRate = 0.005
    static let hurriedRate = 0.02
    /// At most so much later is one kind of media believed to be than the other.
    static let largestSkew = 1000.0
    /// Milliseconds before a packet that has come is looked at.
    static let patience = 5.0
    /// By so many milliseconds sound is needed before the picture beside it.
    static let soundLead = ProgramTime.fractionalMilliseconds(ofSample: ProgramTime.soundLead)
    /// From the arrival of the last sound that a quantum needs to that quantum's turn: the lead with which it is mixed,
    /// its own length, and what the reader keeps in hand.
    static let soundNeed = Double(ProgramTime.soundLead + Int64(ProgramTime.quantum)) / 48 + SoundReader.need
    /// The least time that sound may be late, and what is added to the jitter seen.
    static let leastSlack = 12.0
    static let margin = 5.0

    private static let smoothing = 2.0
    private static let proportional = 0.05
    private static let earlyProportional = 0.3
    private static let integral = 0.0004
    private static let largestDrift = 0.002
    /// More than a burst of twelve seconds holds.
    private static let mostWaiting = 4096

    private struct Arrival: Sendable {
        let kind: TimestampUnifier.Kind
        let timestamp: Int64
        let arrival: Double
    }

    /// The jitter target in milliseconds; a new one is moved to as any other error is.
    var target: Double
    private var waiting = Fifo<Arrival>()
    private var pictureEdge = LiveEdge()
    private var soundEdge = LiveEdge()
    private var firstArrival: Double?
    private var anchoredAt = 0.0
    private var lastAdvance: Double?
    private var smoothedError = 0.0
    private var drift = 0.0
    private var measured = DriftEstimate()
    /// The first packet of those that have come too late without a break.
    private var lateRun: (arrival: Double, delay: Double)?
    /// The host is waited for anew with the next quantum.
    private var isStarved = false

    /// Program time minus host time in milliseconds; nil until the host has settled.
    private(set) var offset: Double?
    /// What it was when the host had settled.
    private(set) var firstOffset: Double?
    /// Milliseconds the offset gains per millisecond.
    private(set) var rate = 0.0
    /// How often the offset was moved in one step.
    private(set) var steps = 0
    /// Packets that came after their turn.
    private(set) var late: Int64 = 0

    init(target: Double) {
        self.target = target
    }

    /// The host's clock against ours in parts per million; positive when the host's is fast.
    var driftPartsPerMillion: Double { measured.partsPerMillion ?? (-drift * 1e6) }

    /// The offset to decode by, known from the first packets on; nil before them.
    var provisionalOffset: Double? { offset ?? wanted }

    private var wanted: Double? {
        let (picture, sound) = edges
        guard let sound else { return picture.map { $0 + target } }
        let slack = min(max(soundEdge.spread(upTo: target) + Self.margin, Self.leastSlack), target)
        let forSound = sound + max(target, Self.soundNeed + slack)
        return picture.map { max($0 + target, forSound) } ?? forSound
    }

    /// The least delays, neither believed to be much later than the other.
    private var edges: (picture: Double?, sound: Double?) {
        guard let picture = pictureEdge.minimum, let sound = soundEdge.minimum else {
            return (pictureEdge.minimum, soundEdge.minimum)
        }
        let most = min(picture, sound) + Self.largestSkew
        return (min(picture, most), min(sound, most))
    }

    /// Takes in that a packet with unified time `timestamp` came at `arrival`, both in milliseconds.
    mutating func observe(_ kind: TimestampUnifier.Kind, timestamp: Int64, arrival: Double) {
        if waiting.count == Self.mostWaiting, let oldest = waiting.popFirst() { take(oldest) }
        waiting.append(Arrival(kind: kind, timestamp: timestamp, arrival: arrival))
    }

    /// Moves the offset on to program time `now`; called once per quantum by the program's thread.
    mutating func advance(to now: Double) {
        while let next = waiting.first, next.arrival <= now - Self.patience {
            _ = waiting.popFirst()
            take(next)
        }
        defer { lastAdvance = now }
        guard let firstArrival, let wanted else { return }
        guard let present = offset else {
            guard now - firstArrival >= Self.settling else { return }
            offset = wanted
            firstOffset = wanted
            anchoredAt = now
            return
        }
        let elapsed = min(max(now - (lastAdvance ?? now), 0), 1000) / 1000
        let error = wanted - present
        if isStarved || abs(error) > largestError(now, isRise: error > 0) {
            isStarved = false
            offset = wanted
            smoothedError = 0
            rate = drift
            steps += 1
            return
        }
        smoothedError += (error - smoothedError) * min(elapsed / Self.smoothing, 1)
        let hurried = abs(smoothedError) > Self.hurryBeyond
        let outside = max(abs(smoothedError) - Self.deadBand, 0) / 1000 * (smoothedError < 0 ? -1 : 1)
        // A beginning that was held back too long says nothing about the host's clock.
        let isEarly = outside < 0 && target <= Self.smallTarget && now - anchoredAt < Self.early
        if let known = measured.partsPerMillion {
            drift = -known / 1e6
        } else if !hurried, !isEarly {
            drift += Self.integral * smoothedError / 1000 * elapsed
        }
        drift = min(max(drift, -Self.largestDrift), Self.largestDrift)
        let limit = hurried ? Self.hurriedRate : Self.steadyRate
        rate = min(max((isEarly ? Self.earlyProportional : Self.proportional) * outside + drift, -limit), limit)
        offset = present + rate * elapsed * 1000
    }

    /// A larger error than this many milliseconds is stepped over.
    private func largestError(_ now: Double, isRise: Bool) -> Double {
        guard now - anchoredAt < Self.youth else { return Self.step }
        return isRise && target <= Self.smallTarget ? Self.youthRise : Self.youthStep
    }

    private mutating func take(_ packet: Arrival) {
        if firstArrival == nil { firstArrival = packet.arrival }
        let delay = packet.arrival - Double(packet.timestamp)
        let isLate = offset.map { delay > (packet.kind == .sound ? $0 - Self.soundLead : $0) } ?? false
        if isLate { late += 1 }
        switch packet.kind {
        case .picture: pictureEdge.observe(delay: delay, arrival: packet.arrival, largestSpread: target)
        case .sound: soundEdge.observe(delay: delay, arrival: packet.arrival, largestSpread: target)
        }
        forgetHopelessEdge(packet.kind)
        // Where there is sound, it is what is missed; a late picture is shown all the same.
        if packet.kind == .sound { noteStarving(isLate: isLate, delay: delay, arrival: packet.arrival) }
        // One kind only: the two may come with different delays, and which of them is there may change.
        if let delay = soundEdge.minimum ?? pictureEdge.minimum { measured.note(delay, at: packet.arrival) }
    }

    /// Notices that all sound comes too late for the offset in force, and will go on to.
    ///
    /// Nobody is heard then, so it is acted on at once, before so much has come late that the edge is known to be
    /// hopeless, and when it never will be: where a host falls behind so slowly that the window goes along.
    private mutating func noteStarving(isLate: Bool, delay: Double, arrival: Double) {
        guard isLate, let run = lateRun else {
            lateRun = isLate ? (arrival, delay) : nil
            return
        }
        guard arrival - run.arrival >= Self.starving else { return }
        // Each such time is looked at by itself: a host may begin to catch up late.
        lateRun = (arrival, delay)
        guard delay > run.delay - Self.catchingUp else { return }
        soundEdge = LiveEdge()
        soundEdge.observe(delay: delay, arrival: arrival, largestSpread: target)
        pictureEdge.keepNewest()
        isStarved = true
    }

    /// When everything of late has come later than the target allows, the window's old minimum is of no use any more.
    ///
    /// The offset in force is not asked, for the other kind of media may decide it; it follows the edge as ever.
    private mutating func forgetHopelessEdge(_ kind: TimestampUnifier.Kind) {
        let edge = kind == .picture ? pictureEdge : soundEdge
        guard let recent = edge.settledRecent, let minimum = edge.minimum, recent - minimum > target else { return }
        switch kind {
        case .picture: pictureEdge.keepRecent()
        case .sound: soundEdge.keepRecent()
        }
    }
}
