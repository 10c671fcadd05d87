import FootlightTesting

/// What an oracle found, by the guarantees that the count gives.
struct OracleVerdict {
    private let lives: [OracleLife]
    private let samples: [OracleSample]
    private let kills: [OracleTruth.Kill]
    private let kinds: [OracleLife.Kind]
    private(set) var isGood = true

    /// How far the gateway's moments may be from ours, in seconds: what it promises, and what a busy machine adds.
    private static let tolerances = [0.1, 0.25, 0.5]
    /// Seconds that a connection may lose over a kill, on average.
    private static let mostLost = 0.2
    /// How far, as a part of it, watch time by requests may be from what their times tell.
    private static let mostError = 0.0015
    /// How far the part of a settled peak that is dated exactly may be from the truth.
    private static let peakError = 1

    init(_ lives: [OracleLife], _ samples: [OracleSample], _ kills: [OracleTruth.Kill]) {
        self.lives = lives
        self.samples = samples
        self.kills = kills
        kinds = OracleLife.Kind.allCases.filter { kind in lives.contains { $0.kind == kind } }
    }

    mutating func judge(summary: JSONValue, sessions: [JSONValue], report: JSONValue) {
        let rows = sessions.map { OracleRow($0) }
        let joins = samples.last?.joins ?? -1
        state("G1", joins == lives.count, "\(joins) joins of \(lives.count) players")
        judgeLive()
        judgeWays(rows)
        judgeWatchTime(summary, rows)
        judgeSteps()
        let contradictions = samples.flatMap(\.contradictions)
        let (average, peak) = (summary["average_viewers"].double ?? -1, summary["peak_viewers"].int ?? -1)
        let isWithin = average <= Double(peak)
        state(
            "G4",
            contradictions.isEmpty && isWithin,
            "\(contradictions.count) contradictions in \(samples.count) snapshots; average \(average.text(1)), peak \(peak)"
        )
        for contradiction in contradictions.prefix(5) { print("     ", contradiction) }
        judgePeak(summary, rows)
        let devices = Set(lives.compactMap(\.device)).count + lives.count { $0.device == nil }
        // A device is named once, at the beginning: one that was not proven yet at a kill is another one after it.
        let unnamed = kills.reduce(0) { sum, kill in
            sum
                + lives.count {
                    $0.device != nil && $0.answers.contains { $0 < kill.killed } && !$0.isProven(by: kill.killed)
                }
        }
        let told = report["uniques"]["devices"].int ?? -1
        state(
            "G7",
            (devices...devices + unnamed).contains(told),
            "\(told) devices of \(devices), \(unnamed) unproven at a kill"
        )
        for (number, kill) in kills.enumerated() { judgeRecovery(kill, number, joins) }
    }

    private mutating func state(_ guarantee: String, _ isKept: Bool, _ figures: String) {
        isGood = isGood && isKept
        print("\(guarantee) \(isKept ? "kept  " : "BROKEN") \(figures)")
    }

    private func lives(_ kind: OracleLife.Kind) -> [OracleLife] { lives.filter { $0.kind == kind } }

    // MARK: G2

    private struct Misses {
        var looks = 0
        var below = 0
        var above = 0
        var worst = 0
        /// When it was farthest off.
        var at = 0.0
    }

    private mutating func judgeLive() {
        let truths = Self.tolerances.map { tolerance in
            Dictionary(
                uniqueKeysWithValues: kinds.map {
                    ($0, OracleTruth(lives($0), kills: kills, tolerance: tolerance))
                }
            )
        }
        let groups = Set(samples.flatMap(\.looks).flatMap(\.counts.keys)).filter { !$0.isDisjoint(with: kinds) }
        for group in groups.sorted(by: { Self.order($0) < Self.order($1) }) {
            var figures: [String] = []
            var isKept = true
            for (tolerance, truth) in zip(Self.tolerances, truths) {
                let misses = misses(of: group, truth)
                figures.append("±\(tolerance) s: \(misses.below) below, \(misses.above) above, by \(misses.worst)")
                if tolerance == Self.tolerances.last {
                    isKept = misses.below + misses.above == 0
                    figures.append("of \(misses.looks)" + (isKept ? "" : ", worst at \(misses.at.text(1)) s"))
                }
            }
            state("G2", isKept, "\(Self.name(of: group)) \(figures.joined(separator: "; "))")
        }
    }

    private func misses(of group: Set<OracleLife.Kind>, _ truths: [OracleLife.Kind: OracleTruth]) -> Misses {
        var misses = Misses()
        for (sample, told) in zip(samples, loggedMoments) {
            for look in sample.looks {
                guard let live = look.counts[group] else { continue }
                var (least, most) = (0, 0)
                for kind in group {
                    guard let truth = truths[kind] else { continue }
                    let wait = look.to - sample.at
                    let bounds =
                        kind == .log
                        ? truth.bounds(from: told.lowerBound, to: told.upperBound + wait)
                        : truth.bounds(from: look.from, to: look.to)
                    least += bounds.lowerBound
                    most += bounds.upperBound
                }
                if group.count == 1, group.isSubset(of: OracleSample.requests) { least -= look.unnamed }
                misses.looks += 1
                if live < least { misses.below += 1 }
                if live > most { misses.above += 1 }
                let miss = max(least - live, live - most)
                if miss > misses.worst { (misses.worst, misses.at) = (miss, sample.at) }
            }
        }
        return misses
    }

    /// Of which time each sample tells what it knows by logs.
    ///
    /// Lines wait until the slowest ones have had time to come, are taken by the quarter of a second, and looked at once a
    /// second. What is still on its way nobody can know. A process that has just begun has seen no line, and tells what its forerunner did.
    private var loggedMoments: [ClosedRange<Double>] {
        let turn = 1.8
        var (most, latest) = (0.0, 0.0)
        return samples.indices.map { index in
            let sample = samples[index]
            let before = index > 0 ? samples[index - 1].logLag : 0
            most = max(most, sample.logLag)
            let least = min(before, sample.logLag)
            if least > 0 || most == 0 { latest = max(latest, sample.at - least) }
            return min(sample.at - most - turn, sample.logged - turn, latest)...latest
        }
    }

    private static func order(_ group: Set<OracleLife.Kind>) -> (Int, Int) {
        (group.count, group.map(\.rawValue).min() ?? 0)
    }

    private static func name(of group: Set<OracleLife.Kind>) -> String {
        if let kind = group.first, group.count == 1 { return kind.name }
        return group == OracleSample.requests ? "all by requests" : "all"
    }

    // MARK: Each way

    /// How each way was counted beside its truth; ways by connection are held to what a kill may cost.
    ///
    /// A player by requests goes without a word, so its way is held to what can be known: half a poll behind its last
    /// request. Of what each player lost that a kill cut off, a part is of those who had not been proven to watch: the time
    /// up to their first playlist behind it.
    private mutating func judgeWays(_ rows: [OracleRow]) {
        var table = Table(
            "way",
            "players",
            "joins",
            "watched, s",
            "there, s",
            "told, s",
            "error, %",
            "as asked, %",
            "cut off",
            "lost each, s",
            "of it new, s",
            "true peak",
            "settled"
        )
        var broken: [String] = []
        let unnamed = rows.count { $0.kind == nil }
        for kind in kinds {
            // What a cache tells names no player: one that is not known over a kill stays so.
            let told = rows.filter { $0.kind == kind || kind == .nginx && $0.kind == nil }
            let own = lives(kind)
            let watched = own.reduce(0) { $0 + $1.watchedSeconds }
            let seconds = told.reduce(0) { $0 + $1.watched }
            let present = own.reduce(0) { $0 + $1.presentSeconds }
            let cuts = own.reduce(0) { $0 + $1.cuts(by: kills) }
            let lost = cuts > 0 ? (present - seconds) / Double(cuts) : 0
            let forgotten = cuts > 0 ? own.reduce(0) { $0 + $1.secondsForgotten(by: kills) } / Double(cuts) : 0
            let asked = own.flatMap(\.dated).reduce(0) { $0 + $1.to - $1.from }
            let error = seconds / max(kind.isConnection ? present : asked, 1) - 1
            let truePeak = OracleTruth.peak(of: own.flatMap(\.dated))
            let settled = OracleRow.peak(of: told).viewers
            table.add([
                kind.name, "\(own.count)", "\(told.count)", watched.text(0), present.text(0), seconds.text(0),
                ((seconds / max(present, 1) - 1) * 100).text(3), (error * 100).text(3), "\(cuts)", lost.text(3),
                forgotten.text(3),
                "\(truePeak)", "\(settled)",
            ])
            // Who is told of without the name of its player came by one of the ways by requests.
            let slack = kind.isConnection ? 0 : unnamed
            if abs(told.count - own.count) > slack { broken.append("\(kind.name) joins") }
            if kind.isConnection, abs(lost) > Self.mostLost { broken.append("\(kind.name) loss") }
            if !kind.isConnection, abs(error) > Self.mostError { broken.append("\(kind.name) watch time") }
            if kind.isConnection || kind == .log, abs(truePeak - settled) > Self.peakError {
                broken.append("\(kind.name) peak")
            }
        }
        print("")
        table.printOut()
        print("")
        let rest = "\(unnamed) sessions by HLS whose player nobody knows"
        let said = broken.isEmpty ? "each is what it was" : broken.joined(separator: ", ")
        state("Ways", broken.isEmpty, unnamed > 0 ? "\(said); \(rest)" : said)
    }

    // MARK: G3

    private mutating func judgeWatchTime(_ summary: JSONValue, _ rows: [OracleRow]) {
        var watched = 0.0
        if case .object(let ways) = summary["by_protocol"] {
            watched = ways.values.reduce(0) { $0 + ($1["watch_time_seconds"].double ?? 0) }
        }
        let truth = lives.reduce(0) { $0 + $1.presentSeconds }
        let ofRows = rows.reduce(0) { $0 + $1.watched }
        let error = truth > 0 ? watched / truth - 1 : 1
        let figures = "\(watched.text(0)) s of \(truth.text(0)) s, \((error * 100).text(3)) %"
        let isSame = abs(watched - ofRows) < truth * 0.001
        state("G3", abs(error) < 0.005 && isSame, "watch time \(figures); the sessions' rows say \(ofRows.text(0)) s")
    }

    // MARK: Counters

    /// No counter steps back, from one look to the next, whatever happened in between.
    private mutating func judgeSteps() {
        var steps: [String] = []
        var worst = 0.0
        for (before, after) in zip(samples, samples.dropFirst()) {
            func compare(_ name: String, _ old: Double, _ new: Double) {
                guard new < old else { return }
                steps.append("\(name) from \(old) to \(new) at \(after.at.text(1)) s")
                worst = max(worst, old - new)
            }
            compare("joins", Double(before.joins), Double(after.joins))
            compare("watch_time_seconds", before.watched, after.watched)
            for (name, old) in before.counters { compare(name, old, after.counters[name] ?? 0) }
        }
        let series = Set(samples.flatMap(\.counters.keys)).count
        state(
            "Steps",
            steps.isEmpty,
            "\(steps.count) steps back of joins and watch time in \(samples.count) looks at the API and at \(series) series"
                + (steps.isEmpty ? "" : ", by \(worst.text(3)) at most")
        )
        for step in steps.prefix(8) { print("     ", step) }
    }

    // MARK: G5

    /// The settled peak that is stored, against the one that the rows of the sessions give, and against the truth.
    ///
    /// The first two are of the same rows, and have to be the same to the millisecond.
    private mutating func judgePeak(_ summary: JSONValue, _ rows: [OracleRow]) {
        let most = OracleRow.peak(of: rows)
        let (open, absences) = (rows.count { $0.end == nil }, rows.reduce(0) { $0 + $1.away.count })
        let (peak, at) = (summary["peak_viewers"].int ?? -1, summary["peak_at"].string ?? "never")
        let truth = OracleTruth.peak(of: lives.flatMap(\.watched))
        let dated = OracleTruth.peak(of: lives.flatMap(\.dated))
        let isNear = abs(Double(peak) / Double(max(truth, 1)) - 1) < 0.01
        state(
            "G5",
            isNear && peak == most.viewers && at == most.at && open == 0,
            """
            settled peak \(peak) (\(summary["peak_kind"].string ?? "")) at \(at); from \(rows.count) rows with \(absences) \
            times away \(most.viewers) at \(most.at), \(open) of them open; truth \(truth), \(dated) with half a poll \
            behind the last
            """
        )
    }

    // MARK: G8

    private mutating func judgeRecovery(_ kill: OracleTruth.Kill, _ number: Int, _ joins: Int) {
        let until = kills.first { $0.killed > kill.killed }?.killed ?? .infinity
        let after = samples.filter { $0.at > kill.listening && $0.at < until }
        func recovered(_ kinds: Set<OracleLife.Kind>) -> Double? {
            let truth = OracleTruth(lives.filter { kinds.contains($0.kind) }, kills: kills, tolerance: 0.5)
            let wrong = after.last { sample in
                !truth.bounds(at: sample.at).contains(sample.live(kinds))
            }
            guard let wrong else { return 0 }
            return after.last.flatMap { $0.at > wrong.at ? wrong.at - kill.listening : nil }
        }
        let (requests, connections) = (recovered([.hls, .llhls, .nginx]), recovered([.rtmp, .flv]))
        let isKept =
            requests.map { $0 <= OracleScript.poll * 1.1 + 0.5 } == true && connections != nil && joins <= lives.count
        let first = after.first
        let last = samples.last { $0.at < kill.killed }
        func counts(_ sample: OracleSample?) -> String {
            sample.map { "\($0.live(OracleSample.requests))/\($0.live([.rtmp, .flv]))" } ?? "-"
        }
        state(
            "G8",
            isKept,
            """
            kill \(number + 1) at \(kill.killed.text(1)) s, listening \((kill.listening - kill.killed).text(2)) s after it; \
            last wrong by HLS \(requests.map { $0.text(1) } ?? "to the end") s after that, by connection \
            \(connections.map { $0.text(1) } ?? "to the end") s; by requests/connections \(counts(last)) before and \
            \(counts(first)) after, recovering was \(first?.isRecovering == true ? "said" : "NOT said")
            """
        )
    }
}
