import Media

/// Finds the host whose media ends a room's mixer again and again, and says for how long nothing may be taken of it.
///
/// Events in, sentences out. After each death it is told whose packets were being decoded. One that was among them three
/// times within a minute is the cause: that it was so by chance is unlikely, for decoding takes a small part of the
/// time. When its time is up it may try again; then a single death is enough, and each time lasts twice as long, until
/// it was good for ten minutes. Deaths during which nobody's packet was decoded are nobody's.
struct HostQuarantine {
    /// Nothing is taken of a host for some time.
    struct Sentence: Equatable {
        let participantSID: String
        let seconds: Double
    }

    struct Configuration: Equatable {
        /// Deaths that one host takes, and the seconds within which they lie.
        var deaths = 3
        var window = 60.0
        /// How long the first sentence lasts, and the most any lasts, in seconds.
        var first = 30.0
        var most = 600.0
        /// Seconds without a death, after a sentence is over, behind which it is forgotten.
        var probation = 600.0
    }

    private struct Record {
        /// When the mixer died over this host, within the window.
        var deaths: [MonotonicTime] = []
        var sentences = 0
        /// When the latest sentence is over.
        var freeFrom: MonotonicTime?
    }

    private let configuration: Configuration
    private var records: [String: Record] = [:]

    init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    /// The mixer died, and these participants' packets were being decoded.
    mutating func died(decoding suspects: Set<String>, now: MonotonicTime) -> [Sentence] {
        forget(now: now)
        return suspects.sorted().compactMap { (sid) -> Sentence? in
            var record = records[sid] ?? Record()
            defer { records[sid] = record }
            record.deaths.append(now)
            guard record.deaths.count >= configuration.deaths || record.sentences > 0 else { return nil }
            var seconds = configuration.first
            for _ in 0..<record.sentences where seconds < configuration.most { seconds *= 2 }
            seconds = min(seconds, configuration.most)
            record.deaths = []
            record.sentences += 1
            record.freeFrom = now.advanced(seconds: seconds)
            return Sentence(participantSID: sid, seconds: seconds)
        }
    }

    /// Drops what is too old to count; so nobody is kept who is long gone.
    private mutating func forget(now: MonotonicTime) {
        for (sid, var record) in records {
            record.deaths.removeAll { now.seconds(since: $0) > configuration.window }
            if let freeFrom = record.freeFrom, now.seconds(since: freeFrom) > configuration.probation {
                record.sentences = 0
                record.freeFrom = nil
            }
            records[sid] = record.deaths.isEmpty && record.sentences == 0 ? nil : record
        }
    }
}
