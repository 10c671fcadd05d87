import FootlightTesting

/// What an oracle found, by the guarantees that the count gives.
struct OracleVerdict {
    private let lives: [OracleLife]
    private let samples: [OracleSample]
    private let crash: OracleTruth.Crash?
    private(set) var isGood = true

    /// How far the gateway's moments may be from ours, in seconds: what it promises, and what a busy machine adds.
    private static let tolerances = [0.1, 0.25, 0.5]

    init(_ lives: [OracleLife], _ samples: [OracleSample], _ crash: OracleTruth.Crash?) {
        self.lives = lives
        self.samples = samples
        self.crash = crash
    }

    mutating func judge(summary: JSONValue, sessions: [JSONValue], report: JSONValue) {
        let joins = samples.last?.joins ?? -1
        state("G1", joins == lives.count, "\(joins) joins of \(lives.count) players")
        judgeLive()
        judgeWatchTime(summary)
        let contradictions = samples.flatMap(\.contradictions)
        let (average, peak) = (summary["average_viewers"].double ?? -1, summary["peak_viewers"].int ?? -1)
        let isWithin = average <= Double(peak)
        state(
            "G4",
            contradictions.isEmpty && isWithin,
            "\(contradictions.count) contradictions in \(samples.count) snapshots; average \(average.text(1)), peak \(peak)"
        )
        for contradiction in contradictions.prefix(5) { print("     ", contradiction) }
        judgePeak(summary, sessions)
        let devices = Set(lives.compactMap(\.device)).count + lives.count { $0.device == nil }
        // A device is named once, at the beginning: one that was not proven yet at the kill is another one after it.
        let unnamed = crash.map { crash in
            lives.count {
                $0.device != nil && $0.answers.contains { $0 < crash.killed } && !$0.isProven(by: crash.killed)
            }
        }
        let told = report["uniques"]["devices"].int ?? -1
        state("G7", (devices...devices + (unnamed ?? 0)).contains(told), "\(told) devices of \(devices)")
        judgeRecovery(joins)
    }

    private mutating func state(_ guarantee: String, _ isKept: Bool, _ figures: String) {
        isGood = isGood && isKept
        print("\(guarantee) \(isKept ? "kept  " : "BROKEN") \(figures)")
    }

    // MARK: G2

    private mutating func judgeLive() {
        let groups: [(name: String, kinds: Set<OracleLife.Kind>)] = [
            ("RTMP", [.rtmp]), ("FLV", [.flv]), ("HLS", [.hls, .llhls]),
        ]
        for group in groups {
            let own = lives.filter { group.kinds.contains($0.kind) }
            var figures: [String] = []
            var isKept = true
            for tolerance in Self.tolerances {
                let truth = OracleTruth(own, crash: crash, tolerance: tolerance)
                var (below, above, worst, looks) = (0, 0, 0, 0)
                for sample in samples {
                    for look in sample.looks {
                        let live = group.kinds.reduce(0) { $0 + (look.counts[$1] ?? 0) }
                        let bounds = truth.bounds(from: look.from, to: look.to)
                        looks += 1
                        if live < bounds.lowerBound { below += 1 }
                        if live > bounds.upperBound { above += 1 }
                        worst = max(worst, bounds.lowerBound - live, live - bounds.upperBound)
                    }
                }
                figures.append("±\(tolerance) s: \(below) below, \(above) above of \(looks), by \(worst) at most")
                if tolerance == Self.tolerances.last { isKept = below + above == 0 }
            }
            state("G2", isKept, "\(group.name) \(figures.joined(separator: "; "))")
        }
    }

    // MARK: G3

    private mutating func judgeWatchTime(_ summary: JSONValue) {
        var (watched, truth) = (0.0, 0.0)
        var parts: [String] = []
        for kind in OracleLife.Kind.allCases {
            let own = lives.filter { $0.kind == kind }.reduce(0) { $0 + $1.watchedSeconds }
            let told = summary["by_protocol"]["\(kind)"]["watch_time_seconds"].double ?? 0
            (watched, truth) = (watched + told, truth + own)
            parts.append("\(kind) \(((told / max(own, 1) - 1) * 100).text(3)) %")
        }
        let error = truth > 0 ? watched / truth - 1 : 1
        let figures = "\(watched.text(0)) s of \(truth.text(0)) s, \((error * 100).text(3)) %"
        state("G3", abs(error) < 0.005, "watch time \(figures); \(parts.joined(separator: ", "))")
    }

    // MARK: G5

    /// The settled peak that is stored, against the one that the rows of the sessions give, and against the truth.
    ///
    /// The first two are of the same rows, and have to be the same to the millisecond.
    private mutating func judgePeak(_ summary: JSONValue, _ sessions: [JSONValue]) {
        var changes: [(at: String, by: Int)] = []
        var (open, absences) = (0, 0)
        func move(_ at: JSONValue, by change: Int) {
            if let at = at.string { changes.append((at, change)) } else { open += 1 }
        }
        for session in sessions {
            move(session["started_at"], by: 1)
            move(session["ended_at"], by: -1)
            for absence in session["away"].elements {
                move(absence["from"], by: -1)
                move(absence["to"], by: 1)
                absences += 1
            }
        }
        var (now, most, reached) = (0, 0, "")
        // Times in RFC 3339 sort as texts; who leaves in the same moment leaves first.
        for change in changes.sorted(by: { ($0.at, $0.by) < ($1.at, $1.by) }) {
            now += change.by
            if now > most { (most, reached) = (now, change.at) }
        }
        let (peak, at) = (summary["peak_viewers"].int ?? -1, summary["peak_at"].string ?? "never")
        let truth = OracleTruth.peak(of: lives)
        let isNear = abs(Double(peak) / Double(max(truth, 1)) - 1) < 0.01
        state(
            "G5",
            isNear && peak == most && at == reached && open == 0,
            """
            settled peak \(peak) at \(at); from \(sessions.count) rows with \(absences) times away \(most) at \(reached), \
            \(open) of them open; truth \(truth)
            """
        )
    }

    // MARK: G8

    private mutating func judgeRecovery(_ joins: Int) {
        guard let crash else { return }
        func recovered(_ kinds: Set<OracleLife.Kind>) -> Double? {
            let truth = OracleTruth(lives.filter { kinds.contains($0.kind) }, crash: crash, tolerance: 0.5)
            let after = samples.filter { $0.at > crash.listening }
            let wrong = after.last { sample in
                let live = kinds.reduce(0) { $0 + (sample.byKind[$1] ?? 0) }
                return !truth.bounds(at: sample.at).contains(live)
            }
            guard let wrong else { return 0 }
            return after.last.flatMap { $0.at > wrong.at ? wrong.at - crash.listening : nil }
        }
        let (hls, connections) = (recovered([.hls, .llhls]), recovered([.rtmp, .flv]))
        let isKept =
            hls.map { $0 <= OracleScript.poll * 1.1 + 0.5 } == true && connections != nil && joins <= lives.count
        let first = samples.first { $0.at > crash.listening }
        let last = samples.last { $0.at < crash.killed }
        state(
            "G8",
            isKept,
            """
            listening \((crash.listening - crash.killed).text(2)) s after the kill; last wrong by HLS \
            \(hls.map { $0.text(1) } ?? "to the end") s after that, by connection \
            \(connections.map { $0.text(1) } ?? "to the end") s; HLS \(last.map { OracleSample.requests($0.byKind) } ?? -1) \
            before and \(first.map { OracleSample.requests($0.byKind) } ?? -1) after, \
            recovering was \(first?.isRecovering == true ? "said" : "NOT said")
            """
        )
    }
}
