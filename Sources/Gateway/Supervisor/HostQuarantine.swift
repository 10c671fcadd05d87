import Media

/// Finds the host whose media crashes a room's mixer repeatedly, and determines for how long the host is refused.
///
/// After each crash it receives the participants whose packets were being decoded. A participant that is among them
/// three times within a minute is considered the cause, because decoding takes a small part of the time. After the
/// penalty a single crash suffices for the next one, which lasts twice as long, until the host has caused none for ten
/// minutes. Crashes outside of decoding have no effect.
struct HostQuarantine {
    /// The refusal of a host for some time.
    struct Penalty: Equatable {
        let participantSID: String
        let seconds: Double
    }

    struct Configuration: Equatable {
        /// The number of crashes for a penalty, and the seconds within which they must occur.
        var crashes = 3
        var window = 60.0
        /// The durations of the first and of the longest penalty, in seconds.
        var firstDuration = 30.0
        var maximumDuration = 600.0
        /// Seconds without a crash after a penalty's end after which the host's record is cleared.
        var probation = 600.0
    }

    private struct Record {
        /// The times of the crashes within the window.
        var crashes: [MonotonicTime] = []
        var penalties = 0
        /// The end of the latest penalty.
        var endsAt: MonotonicTime?
    }

    private let configuration: Configuration
    private var records: [String: Record] = [:]

    init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    /// Records a crash while these participants' packets were being decoded.
    mutating func mixerCrashed(decoding suspects: Set<String>, now: MonotonicTime) -> [Penalty] {
        expireRecords(now: now)
        return suspects.sorted().compactMap { (sid) -> Penalty? in
            var record = records[sid] ?? Record()
            defer { records[sid] = record }
            record.crashes.append(now)
            guard record.crashes.count >= configuration.crashes || record.penalties > 0 else { return nil }
            var seconds = configuration.firstDuration
            for _ in 0..<record.penalties where seconds < configuration.maximumDuration { seconds *= 2 }
            seconds = min(seconds, configuration.maximumDuration)
            record.crashes = []
            record.penalties += 1
            record.endsAt = now.advanced(seconds: seconds)
            return Penalty(participantSID: sid, seconds: seconds)
        }
    }

    /// Removes expired crashes and penalties.
    private mutating func expireRecords(now: MonotonicTime) {
        for (sid, var record) in records {
            record.crashes.removeAll { now.seconds(since: $0) > configuration.window }
            if let endsAt = record.endsAt, now.seconds(since: endsAt) > configuration.probation {
                record.penalties = 0
                record.endsAt = nil
            }
            records[sid] = record.crashes.isEmpty && record.penalties == 0 ? nil : record
        }
    }
}
