import DequeModule

/// Maps one host's time to program time, with one offset for its video and its audio.
///
/// Host time plus `offset` is program time, both in milliseconds. The target offset is the recent minimum delay plus
/// the jitter target; when one track comes later than the other, the later one decides. The offset in force follows the
/// target slowly: a servo corrects small errors at a rate that the audio resampler can follow inaudibly, in addition to
/// the drift between the host's clock and ours (the servo's integral, until the drift is measured); large errors are
/// corrected in one step.
///
/// Audio is mixed ahead of the matching frames (see `ProgramTime.audioLead`), so a small target would leave no room for
/// its jitter. The time that audio needs therefore counts from its own lead, and grows with the jitter observed, up to
/// the target.
///
/// A host that sends slower than real time, or whose network path has become longer, stays late. Its buffer is then
/// filled again: half a second of audio is lost, and what follows is heard until that buffer is used up.
///
/// A packet is evaluated only once it is `processingDelay` old. By then every thread has delivered what arrived before,
/// so each decision depends on the arrival times alone, and a recording of them repeats it exactly.
struct HostTimeline: Sendable {
    /// Milliseconds of arrivals observed before the host is shown: a join begins with a burst of old packets.
    static let settling = 150.0
    /// Milliseconds after the first step in which any visible error is corrected in one step.
    static let warmUp = 2000.0
    static let warmUpStep = 40.0
    /// A target up to this many milliseconds is small: it leaves audio hardly any margin.
    static let smallTarget = 150.0
    /// With a small target, and during the warm-up, a rise larger than this is applied in one step: otherwise audio
    /// would be missing repeatedly.
    static let warmUpRise = 8.0
    /// Milliseconds after the first step in which, with a small target, excess delay is reduced faster.
    static let early = 15_000.0
    /// Milliseconds of error beyond which the offset is corrected in one step at any time.
    static let step = 500.0
    /// Milliseconds for which all audio must have been late before the host's buffer is filled again.
    static let starving = 500.0
    /// A host that recovers more than this many milliseconds in that time is about to be in time by itself.
    static let catchingUp = 50.0
    static let deadBand = 3.0
    /// Milliseconds of error beyond which the rate may rise from 0.5 %, which is inaudible, to 2 %.
    static let fastRateThreshold = 60.0
    static let steadyRate = 0.005
    static let fastRate = 0.02
    /// The largest assumed delay in milliseconds between a host's two tracks.
    static let largestSkew = 1000.0
    /// Milliseconds after its arrival at which a packet is evaluated.
    static let processingDelay = 5.0
    /// Milliseconds by which audio is needed before the matching frame.
    static let audioLead = ProgramTime.fractionalMilliseconds(ofSample: ProgramTime.audioLead)
    /// Milliseconds from the arrival of the last audio that a quantum needs to that quantum's presentation: the lead
    /// with which it is mixed, its own length, and what the reader keeps in reserve.
    static let audioNeed = Double(ProgramTime.audioLead + Int64(ProgramTime.quantum)) / 48 + HostAudioReader.need
    /// The minimum jitter margin of audio, and what is added to the jitter observed, in milliseconds.
    static let minimumSlack = 12.0
    static let margin = 5.0

    private static let smoothing = 2.0
    private static let proportional = 0.05
    private static let earlyProportional = 0.3
    private static let integral = 0.0004
    private static let largestDrift = 0.002
    /// More than a burst of twelve seconds holds.
    private static let maximumQueued = 4096

    private struct Arrival: Sendable {
        let kind: TimestampUnifier.Kind
        let timestamp: Int64
        let arrival: Double
    }

    /// The jitter target in milliseconds; a change is followed like any other error.
    var target: Double
    private var waiting = Deque<Arrival>()
    private var videoDelay = MinimumDelayWindow()
    private var audioDelay = MinimumDelayWindow()
    private var firstArrival: Double?
    private var anchoredAt = 0.0
    private var lastAdvance: Double?
    private var smoothedError = 0.0
    private var drift = 0.0
    private var measured = DriftEstimate()
    /// The first packet of the current uninterrupted run of late packets.
    private var lateRun: (arrival: Double, delay: Double)?
    /// Whether the host's buffer is filled again with the next quantum.
    private var isStarved = false

    /// Program time minus host time in milliseconds; nil until the host has settled.
    private(set) var offset: Double?
    /// The offset at the time the host settled.
    private(set) var firstOffset: Double?
    /// Milliseconds by which the offset changes per millisecond.
    private(set) var rate = 0.0
    /// The number of times the offset was moved in one step.
    private(set) var steps = 0
    /// Packets that came after their presentation time.
    private(set) var late: Int64 = 0

    init(target: Double) {
        self.target = target
    }

    /// The drift of the host's clock against ours in parts per million; positive when the host's is fast.
    var driftPartsPerMillion: Double { measured.partsPerMillion ?? (-drift * 1e6) }

    /// The offset to decode by, known from the first packets on; nil before them.
    var provisionalOffset: Double? { offset ?? targetOffset }

    private var targetOffset: Double? {
        let (video, audio) = edges
        guard let audio else { return video.map { $0 + target } }
        let slack = min(max(audioDelay.spread(upTo: target) + Self.margin, Self.minimumSlack), target)
        let forAudio = audio + max(target, Self.audioNeed + slack)
        return video.map { max($0 + target, forAudio) } ?? forAudio
    }

    /// The minimum delays, limited to `largestSkew` from each other.
    private var edges: (video: Double?, audio: Double?) {
        guard let video = videoDelay.minimum, let audio = audioDelay.minimum else {
            return (videoDelay.minimum, audioDelay.minimum)
        }
        let limit = min(video, audio) + Self.largestSkew
        return (min(video, limit), min(audio, limit))
    }

    /// Records that a packet with unified time `timestamp` came at `arrival`, both in milliseconds.
    mutating func observe(_ kind: TimestampUnifier.Kind, timestamp: Int64, arrival: Double) {
        if waiting.count == Self.maximumQueued, let oldest = waiting.popFirst() { process(oldest) }
        waiting.append(Arrival(kind: kind, timestamp: timestamp, arrival: arrival))
    }

    /// Advances the offset to program time `now`; called once per quantum by the program's thread.
    mutating func advance(to now: Double) {
        while let next = waiting.first, next.arrival <= now - Self.processingDelay {
            _ = waiting.popFirst()
            process(next)
        }
        defer { lastAdvance = now }
        guard let firstArrival, let targetOffset else { return }
        guard let present = offset else {
            guard now - firstArrival >= Self.settling else { return }
            offset = targetOffset
            firstOffset = targetOffset
            anchoredAt = now
            return
        }
        let elapsed = min(max(now - (lastAdvance ?? now), 0), 1000) / 1000
        let error = targetOffset - present
        if isStarved || abs(error) > largestError(now, isRise: error > 0) {
            isStarved = false
            offset = targetOffset
            smoothedError = 0
            rate = drift
            steps += 1
            return
        }
        smoothedError += (error - smoothedError) * min(elapsed / Self.smoothing, 1)
        let hurried = abs(smoothedError) > Self.fastRateThreshold
        let outside = max(abs(smoothedError) - Self.deadBand, 0) / 1000 * (smoothedError < 0 ? -1 : 1)
        // Excess delay at the start says nothing about the host's clock.
        let isEarly = outside < 0 && target <= Self.smallTarget && now - anchoredAt < Self.early
        if let partsPerMillion = measured.partsPerMillion {
            drift = -partsPerMillion / 1e6
        } else if !hurried, !isEarly {
            drift += Self.integral * smoothedError / 1000 * elapsed
        }
        drift = min(max(drift, -Self.largestDrift), Self.largestDrift)
        let limit = hurried ? Self.fastRate : Self.steadyRate
        rate = min(max((isEarly ? Self.earlyProportional : Self.proportional) * outside + drift, -limit), limit)
        offset = present + rate * elapsed * 1000
    }

    /// Returns the error in milliseconds beyond which the offset is corrected in one step.
    private func largestError(_ now: Double, isRise: Bool) -> Double {
        guard now - anchoredAt < Self.warmUp else { return Self.step }
        return isRise && target <= Self.smallTarget ? Self.warmUpRise : Self.warmUpStep
    }

    private mutating func process(_ packet: Arrival) {
        if firstArrival == nil { firstArrival = packet.arrival }
        let delay = packet.arrival - Double(packet.timestamp)
        let isLate = offset.map { delay > (packet.kind == .audio ? $0 - Self.audioLead : $0) } ?? false
        if isLate { late += 1 }
        switch packet.kind {
        case .video: videoDelay.observe(delay: delay, arrival: packet.arrival, largestSpread: target)
        case .audio: audioDelay.observe(delay: delay, arrival: packet.arrival, largestSpread: target)
        }
        dropStaleMinimum(packet.kind)
        // Where there is audio, its lateness counts; a late frame is still shown.
        if packet.kind == .audio { detectStarvation(isLate: isLate, delay: delay, arrival: packet.arrival) }
        // One track only: the two may have different delays, and either may come and go.
        if let delay = audioDelay.minimum ?? videoDelay.minimum { measured.add(delay, at: packet.arrival) }
    }

    /// Detects that all audio comes too late for the offset in force and will continue to.
    ///
    /// The host is silent then, so this acts before enough late packets have come for `dropStaleMinimum`, and also
    /// where a host falls behind so slowly that the window follows it.
    private mutating func detectStarvation(isLate: Bool, delay: Double, arrival: Double) {
        guard isLate, let run = lateRun else {
            lateRun = isLate ? (arrival, delay) : nil
            return
        }
        guard arrival - run.arrival >= Self.starving else { return }
        // Each such period is evaluated separately: a host may begin to recover late.
        lateRun = (arrival, delay)
        guard delay > run.delay - Self.catchingUp else { return }
        audioDelay = MinimumDelayWindow()
        audioDelay.observe(delay: delay, arrival: arrival, largestSpread: target)
        videoDelay.trimToNewest()
        isStarved = true
    }

    /// Drops the window's old minimum when all recent packets came later than the target allows.
    ///
    /// The offset in force is not used here, for the other track may decide it; it follows the window as usual.
    private mutating func dropStaleMinimum(_ kind: TimestampUnifier.Kind) {
        let edge = kind == .video ? videoDelay : audioDelay
        guard let recent = edge.settledRecent, let minimum = edge.minimum, recent - minimum > target else { return }
        switch kind {
        case .video: videoDelay.trimToRecent()
        case .audio: audioDelay.trimToRecent()
        }
    }
}

/// The minimum delay of a host's packets over the last seconds (arrival minus timestamp), and the jitter above it.
///
/// The window consists of half-second buckets, of which only those with packets count; so a stall does not age the
/// estimate, and the old packets in the burst that ends the stall do not raise it.
struct MinimumDelayWindow: Sendable {
    private struct Bucket: Sendable {
        var lowest: Double
        var highest: Double
    }

    private static let bucketLength = 500.0
    private static let bucketLimit = 10
    private static let recentBuckets = 3

    private var buckets: [Bucket] = []
    private var current = Int64.min

    /// The minimum delay of the window in milliseconds; nil before the first packet.
    private(set) var minimum: Double?

    /// Adds one packet.
    ///
    /// - Parameters:
    ///   - delay: Arrival minus timestamp in milliseconds.
    ///   - arrival: The arrival time in milliseconds.
    ///   - largestSpread: A packet that is later than the minimum by more than this is a stall and not jitter.
    mutating func observe(delay: Double, arrival: Double, largestSpread: Double) {
        let bucket = Int64((arrival / Self.bucketLength).rounded(.down))
        if bucket > current || buckets.isEmpty {
            current = bucket
            if buckets.count == Self.bucketLimit { buckets.removeFirst() }
            buckets.append(Bucket(lowest: delay, highest: -.infinity))
            minimum = buckets.reduce(delay) { min($0, $1.lowest) }
        }
        let last = buckets.count - 1
        buckets[last].lowest = min(buckets[last].lowest, delay)
        let minimum = min(minimum ?? delay, delay)
        self.minimum = minimum
        // The first packets of a join are old, which shows only when newer ones follow.
        if buckets[last].highest - minimum > largestSpread { buckets[last].highest = -.infinity }
        if delay - minimum <= largestSpread { buckets[last].highest = max(buckets[last].highest, delay) }
    }

    /// Returns the delay of the latest packets above the window's minimum, in milliseconds.
    ///
    /// - Parameter largest: Larger delays are ignored.
    func spread(upTo largest: Double) -> Double {
        guard let minimum else { return 0 }
        return buckets.reduce(0) { spread, bucket in
            let highest = bucket.highest - minimum
            return highest <= largest ? max(spread, highest) : spread
        }
    }

    /// The minimum delay of the last 1.5 seconds with packets; nil before, and while the delay is still falling.
    var settledRecent: Double? {
        guard buckets.count >= Self.recentBuckets else { return nil }
        let recent = buckets.suffix(Self.recentBuckets).map(\.lowest)
        guard let first = recent.first, let last = recent.last, first - last < 100 else { return nil }
        return recent.min()
    }

    /// Drops all but the last 1.5 seconds.
    mutating func trimToRecent() { trim(Self.recentBuckets) }

    /// Drops all but the last half second.
    mutating func trimToNewest() { trim(1) }

    private mutating func trim(_ count: Int) {
        buckets.removeFirst(max(buckets.count - count, 0))
        minimum = buckets.map(\.lowest).min()
    }
}

/// Measures a host's clock drift over minutes, as the slope of its minimum delay.
///
/// The servo's integral is only as precise as it needs to be; a line through one point every five seconds, over at most
/// five minutes, is precise to a few parts per million. A change of the network path begins a new line.
struct DriftEstimate: Sendable {
    private static let spacing = 5000.0
    private static let maximumPoints = 60
    private static let minimumPoints = 8
    /// A larger step between two points, in milliseconds, is another network path and not drift.
    private static let largestStep = 20.0

    private var points: [(time: Double, delay: Double)] = []

    /// Adds a point: the minimum delay was `delay` at `time`, both in milliseconds.
    mutating func add(_ delay: Double, at time: Double) {
        if let last = points.last {
            guard time - last.time >= Self.spacing else { return }
            if abs(delay - last.delay) > Self.largestStep || time - last.time > 3 * Self.spacing { points.removeAll() }
        }
        if points.count == Self.maximumPoints { points.removeFirst() }
        points.append((time, delay))
        partsPerMillion = slope
    }

    /// The drift, positive when the host's clock is fast; nil during the first 40 seconds.
    private(set) var partsPerMillion: Double?

    private var slope: Double? {
        guard points.count >= Self.minimumPoints else { return nil }
        let count = Double(points.count)
        let time = points.reduce(0) { $0 + $1.time } / count
        let delay = points.reduce(0) { $0 + $1.delay } / count
        var (product, square) = (0.0, 0.0)
        for point in points {
            product += (point.time - time) * (point.delay - delay)
            square += (point.time - time) * (point.time - time)
        }
        return square > 0 ? -product / square * 1e6 : nil
    }
}
