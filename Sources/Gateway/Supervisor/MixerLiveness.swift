import Media

/// Judges by the reports and packets of one room's mixer whether it hangs.
///
/// A mixer that has published and then publishes nothing for five seconds hangs, and so does one that publishes nothing
/// within twenty seconds of its start. Each hang in a row doubles both times, up to eightfold, so that mixers that are
/// only starved of processor time are not killed in a loop. Time in which the gateway itself stood still does not count.
struct MixerLiveness {
    /// What the gateway has received from the mixers of a room so far.
    struct Signs: Equatable, Sendable {
        /// Reports by HTTP.
        var reports: UInt64 = 0
        /// Packets of the program.
        var packets: UInt64 = 0
    }

    /// In which way a mixer hangs; the raw value is for people.
    enum Hang: String, Sendable {
        case neverPublished = "it has not published the program since it was started"
        case silent = "it neither reports nor publishes"
        case publishesNothing = "it reports but publishes nothing"
    }

    struct Configuration: Equatable {
        /// Seconds without a packet, of a mixer that has published before.
        var silence = 5.0
        /// Seconds from a mixer's start to its first packet.
        var startup = 20.0
        /// How often both times are doubled at most.
        var mostDoublings = 3
        /// Seconds without a hang after which the next one counts as the first.
        var healthy = 60.0
        /// Seconds between two looks beyond which the gateway itself stood still.
        var pause = 1.0
    }

    private let configuration: Configuration
    /// What had come at the last look; nil before the first one at a process.
    private var known: Signs?
    private var started: MonotonicTime?
    private var lastReport: MonotonicTime?
    private var lastPacket: MonotonicTime?
    private var lastLook: MonotonicTime?
    /// Hangs in a row.
    private var hangs = 0

    init(configuration: Configuration) {
        self.configuration = configuration
    }

    /// A process was started; what comes from now on is from that process.
    mutating func processStarted(now: MonotonicTime) {
        started = now
        lastReport = nil
        lastPacket = nil
        lastLook = now
        known = nil
    }

    /// Looks at what has come; to be called several times a second while the process runs.
    ///
    /// - Returns: In which way the mixer hangs, once for each hang; nil while it does not.
    mutating func look(_ signs: Signs, now: MonotonicTime) -> Hang? {
        skipPause(now: now)
        // What came up to the first look may be of the process before.
        let before = known ?? signs
        known = signs
        if signs.reports != before.reports { lastReport = now }
        if signs.packets != before.packets { lastPacket = now }
        guard let started else { return nil }
        if now.seconds(since: started) >= configuration.healthy { hangs = 0 }
        let patience = Double(1 << min(hangs, configuration.mostDoublings))
        let limit = (lastPacket == nil ? configuration.startup : configuration.silence) * patience
        guard now.seconds(since: lastPacket ?? started) >= limit else { return nil }
        hangs += 1
        self.started = nil
        guard lastPacket != nil else { return .neverPublished }
        let reports = lastReport.map { now.seconds(since: $0) < configuration.silence / 2 } ?? false
        return reports ? .publishesNothing : .silent
    }

    /// Moves everything on by the time in which nobody looked: then nothing was taken in either.
    private mutating func skipPause(now: MonotonicTime) {
        defer { lastLook = now }
        guard let lastLook else { return }
        let pause = now.seconds(since: lastLook)
        guard pause > configuration.pause else { return }
        started = started?.advanced(seconds: pause)
        lastReport = lastReport?.advanced(seconds: pause)
        lastPacket = lastPacket?.advanced(seconds: pause)
    }
}
