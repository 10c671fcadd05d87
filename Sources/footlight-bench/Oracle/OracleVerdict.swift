import Foundation
import Media
import TestSupport

/// The verdict of an oracle run on each guarantee of the viewer count.
struct OracleVerdict {
    private let playbacks: [OraclePlayback]
    private let samples: [OracleSample]
    private let kills: [OracleTruth.Kill]
    private let kinds: [OraclePlayback.Kind]
    private(set) var isGood = true

    /// Accepted differences between the gateway's times and the actual ones in seconds: the guarantee, and what a busy
    /// machine adds.
    private static let tolerances = [0.1, 0.25, 0.5]
    /// Seconds that a connection may lose by a kill, on average.
    private static let mostLost = 0.2
    /// The accepted relative error of the watch time by requests.
    private static let mostError = 0.0015
    /// The accepted error of the settled peak for kinds whose times are exact.
    private static let peakError = 1

    init(_ playbacks: [OraclePlayback], _ samples: [OracleSample], _ kills: [OracleTruth.Kill]) {
        self.playbacks = playbacks
        self.samples = samples
        self.kills = kills
        kinds = OraclePlayback.Kind.allCases.filter { kind in playbacks.contains { $0.kind == kind } }
    }

    mutating func judge(summary: JSONValue, sessions: [JSONValue], report: JSONValue) {
        let rows = sessions.map { OracleRow($0) }
        let joins = samples.last?.joins ?? -1
        state("G1", joins == playbacks.count, "\(joins) joins of \(playbacks.count) players")
        judgeLive()
        judgeMethods(rows)
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
        let devices = Set(playbacks.compactMap(\.device)).count + playbacks.count { $0.device == nil }
        // A device sends its id once, at the start: if it was not proven at a kill, it counts as a new device after it.
        let unnamed = kills.reduce(0) { sum, kill in
            sum
                + playbacks.count {
                    $0.device != nil && $0.answers.contains { $0 < kill.killed } && !$0.isProven(by: kill.killed)
                }
        }
        let reported = report["uniques"]["devices"].int ?? -1
        state(
            "G7",
            (devices...devices + unnamed).contains(reported),
            "\(reported) devices of \(devices), \(unnamed) unproven at a kill"
        )
        for (number, kill) in kills.enumerated() { judgeRecovery(kill, number, joins) }
    }

    private mutating func state(_ guarantee: String, _ isKept: Bool, _ figures: String) {
        isGood = isGood && isKept
        print("\(guarantee) \(isKept ? "kept  " : "BROKEN") \(figures)")
    }

    private func playbacks(_ kind: OraclePlayback.Kind) -> [OraclePlayback] { playbacks.filter { $0.kind == kind } }

    // MARK: G2

    private struct Misses {
        var snapshots = 0
        var below = 0
        var above = 0
        var worst = 0
        /// The time of the largest difference.
        var at = 0.0
    }

    private mutating func judgeLive() {
        let truths = Self.tolerances.map { tolerance in
            Dictionary(
                uniqueKeysWithValues: kinds.map {
                    ($0, OracleTruth(playbacks($0), kills: kills, tolerance: tolerance))
                }
            )
        }
        let groups = Set(samples.flatMap(\.snapshots).flatMap(\.counts.keys)).filter { !$0.isDisjoint(with: kinds) }
        for group in groups.sorted(by: { Self.order($0) < Self.order($1) }) {
            var figures: [String] = []
            var isKept = true
            for (tolerance, truth) in zip(Self.tolerances, truths) {
                let misses = misses(of: group, truth)
                figures.append("±\(tolerance) s: \(misses.below) below, \(misses.above) above, by \(misses.worst)")
                if tolerance == Self.tolerances.last {
                    isKept = misses.below + misses.above == 0
                    figures.append("of \(misses.snapshots)" + (isKept ? "" : ", worst at \(misses.at.text(1)) s"))
                }
            }
            state("G2", isKept, "\(Self.name(of: group)) \(figures.joined(separator: "; "))")
        }
    }

    private func misses(of group: Set<OraclePlayback.Kind>, _ truths: [OraclePlayback.Kind: OracleTruth]) -> Misses {
        var misses = Misses()
        for (sample, reported) in zip(samples, loggedMoments) {
            for snapshot in sample.snapshots {
                guard let live = snapshot.counts[group] else { continue }
                var (least, most) = (0, 0)
                for kind in group {
                    guard let truth = truths[kind] else { continue }
                    let wait = snapshot.to - sample.at
                    let bounds =
                        kind == .log
                        ? truth.bounds(from: reported.lowerBound, to: reported.upperBound + wait)
                        : truth.bounds(from: snapshot.from, to: snapshot.to)
                    least += bounds.lowerBound
                    most += bounds.upperBound
                }
                if group.count == 1, group.isSubset(of: OracleSample.requests) { least -= snapshot.unnamed }
                misses.snapshots += 1
                if live < least { misses.below += 1 }
                if live > most { misses.above += 1 }
                let miss = max(least - live, live - most)
                if miss > misses.worst { (misses.worst, misses.at) = (miss, sample.at) }
            }
        }
        return misses
    }

    /// The range of times that each sample's counts from logs belong to.
    ///
    /// Lines are held until the slowest ones have had time to arrive, are applied in steps of a quarter of a second,
    /// and checked once a second. A restarted process has received no line yet, and reports its predecessor's counts.
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

    private static func order(_ group: Set<OraclePlayback.Kind>) -> (Int, Int) {
        (group.count, group.map(\.rawValue).min() ?? 0)
    }

    private static func name(of group: Set<OraclePlayback.Kind>) -> String {
        if let kind = group.first, group.count == 1 { return kind.name }
        return group == OracleSample.requests ? "all by requests" : "all"
    }

    // MARK: Each kind

    /// Compares the counts of each kind with the truth; kinds by connection are held to the accepted loss of a kill.
    ///
    /// A player by requests leaves silently, so its kind is held to what can be known: half a poll interval after its
    /// last request. Part of the loss by a kill belongs to players that were not yet proven: the time up to their first
    /// playlist after it.
    private mutating func judgeMethods(_ rows: [OracleRow]) {
        var table = Table(
            "way",
            "players",
            "joins",
            "watched, s",
            "there, s",
            "reported, s",
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
            // Access log lines do not identify the player: a session that is unknown over a kill stays so.
            let reported = rows.filter { $0.kind == kind || kind == .nginx && $0.kind == nil }
            let own = playbacks(kind)
            let watched = own.reduce(0) { $0 + $1.watchedSeconds }
            let seconds = reported.reduce(0) { $0 + $1.watched }
            let present = own.reduce(0) { $0 + $1.presentSeconds }
            let cuts = own.reduce(0) { $0 + $1.cuts(by: kills) }
            let lost = cuts > 0 ? (present - seconds) / Double(cuts) : 0
            let forgotten = cuts > 0 ? own.reduce(0) { $0 + $1.secondsForgotten(by: kills) } / Double(cuts) : 0
            let asked = own.flatMap(\.dated).reduce(0) { $0 + $1.to - $1.from }
            let error = seconds / max(kind.isConnection ? present : asked, 1) - 1
            let truePeak = OracleTruth.peak(of: own.flatMap(\.dated))
            let settled = OracleRow.peak(of: reported).viewers
            table.add([
                kind.name, "\(own.count)", "\(reported.count)", watched.text(0), present.text(0), seconds.text(0),
                ((seconds / max(present, 1) - 1) * 100).text(3), (error * 100).text(3), "\(cuts)", lost.text(3),
                forgotten.text(3),
                "\(truePeak)", "\(settled)",
            ])
            // A session of an unknown player belongs to one of the kinds by requests.
            let slack = kind.isConnection ? 0 : unnamed
            if abs(reported.count - own.count) > slack { broken.append("\(kind.name) joins") }
            if kind.isConnection, abs(lost) > Self.mostLost { broken.append("\(kind.name) loss") }
            if !kind.isConnection, abs(error) > Self.mostError { broken.append("\(kind.name) watch time") }
            if kind.isConnection || kind == .log, abs(truePeak - settled) > Self.peakError {
                broken.append("\(kind.name) peak")
            }
        }
        print("")
        table.printOut()
        print("")
        let rest = "\(unnamed) sessions by HLS with an unknown player"
        let said = broken.isEmpty ? "all agree" : broken.joined(separator: ", ")
        state("Ways", broken.isEmpty, unnamed > 0 ? "\(said); \(rest)" : said)
    }

    // MARK: G3

    private mutating func judgeWatchTime(_ summary: JSONValue, _ rows: [OracleRow]) {
        var watched = 0.0
        if case .object(let ways) = summary["by_protocol"] {
            watched = ways.values.reduce(0) { $0 + ($1["watch_time_seconds"].double ?? 0) }
        }
        let truth = playbacks.reduce(0) { $0 + $1.presentSeconds }
        let ofRows = rows.reduce(0) { $0 + $1.watched }
        let error = truth > 0 ? watched / truth - 1 : 1
        let figures = "\(watched.text(0)) s of \(truth.text(0)) s, \((error * 100).text(3)) %"
        let isSame = abs(watched - ofRows) < truth * 0.001
        state("G3", abs(error) < 0.005 && isSame, "watch time \(figures); the sessions' rows say \(ofRows.text(0)) s")
    }

    // MARK: Counters

    /// Checks that no counter decreases from one sample to the next.
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
            "\(steps.count) decreases of joins and watch time in \(samples.count) API samples and \(series) series"
                + (steps.isEmpty ? "" : ", by \(worst.text(3)) at most")
        )
        for step in steps.prefix(8) { print("     ", step) }
    }

    // MARK: G5

    /// Compares the stored settled peak with the one derived from the session rows, and with the truth.
    ///
    /// The first two are derived from the same rows, and must agree to the millisecond.
    private mutating func judgePeak(_ summary: JSONValue, _ rows: [OracleRow]) {
        let most = OracleRow.peak(of: rows)
        let (open, absences) = (rows.count { $0.end == nil }, rows.reduce(0) { $0 + $1.away.count })
        let (peak, at) = (summary["peak_viewers"].int ?? -1, summary["peak_at"].string ?? "never")
        let truth = OracleTruth.peak(of: playbacks.flatMap(\.watched))
        let dated = OracleTruth.peak(of: playbacks.flatMap(\.dated))
        let isNear = abs(Double(peak) / Double(max(truth, 1)) - 1) < 0.01
        state(
            "G5",
            isNear && peak == most.viewers && at == most.at && open == 0,
            """
            settled peak \(peak) (\(summary["peak_kind"].string ?? "")) at \(at); from \(rows.count) rows with \(absences) \
            absences \(most.viewers) at \(most.at), \(open) of them open; truth \(truth), \(dated) with half a poll \
            interval after the last request
            """
        )
    }

    // MARK: G8

    private mutating func judgeRecovery(_ kill: OracleTruth.Kill, _ number: Int, _ joins: Int) {
        let until = kills.first { $0.killed > kill.killed }?.killed ?? .infinity
        let after = samples.filter { $0.at > kill.listening && $0.at < until }
        func recovered(_ kinds: Set<OraclePlayback.Kind>) -> Double? {
            let truth = OracleTruth(playbacks.filter { kinds.contains($0.kind) }, kills: kills, tolerance: 0.5)
            let wrong = after.last { sample in
                !truth.bounds(at: sample.at).contains(sample.live(kinds))
            }
            guard let wrong else { return 0 }
            return after.last.flatMap { $0.at > wrong.at ? wrong.at - kill.listening : nil }
        }
        let (requests, connections) = (recovered([.hls, .llhls, .nginx]), recovered([.rtmp, .flv]))
        let isKept =
            requests.map { $0 <= OracleScript.poll * 1.1 + 0.5 } == true && connections != nil
            && joins <= playbacks.count
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
            \(counts(first)) after, recovering was \(first?.isRecovering == true ? "reported" : "NOT reported")
            """
        )
    }
}

/// One session as the gateway lists it after the end.
struct OracleRow {
    /// The kind of its player; nil for an unknown one.
    let kind: OraclePlayback.Kind?
    let watched: Double
    /// The start, as RFC 3339 text.
    let start: String
    /// The end; nil while the session lasts.
    let end: String?
    let away: [(from: String, to: String)]

    init(_ json: JSONValue) {
        kind = OraclePlayback.Kind(playback: json["protocol"].string, client: json["client"].string)
        watched = json["watch_time_seconds"].double ?? 0
        start = json["started_at"].string ?? ""
        end = json["ended_at"].string
        away = json["away"].elements.compactMap { absence in
            guard let from = absence["from"].string, let to = absence["to"].string else { return nil }
            return (from, to)
        }
    }

    /// Returns the maximum number of concurrent sessions, and its time.
    static func peak(of rows: [OracleRow]) -> (viewers: Int, at: String) {
        var changes: [(at: String, by: Int)] = []
        for row in rows {
            changes.append((row.start, 1))
            if let end = row.end { changes.append((end, -1)) }
            for absence in row.away { changes += [(absence.from, -1), (absence.to, 1)] }
        }
        var (now, most, reached) = (0, 0, "")
        // RFC 3339 times sort as text; at equal times, leaves come first.
        for change in changes.sorted(by: { ($0.at, $0.by) < ($1.at, $1.by) }) {
            now += change.by
            if now > most { (most, reached) = (now, change.at) }
        }
        return (most, reached)
    }
}

/// The details of all players and sessions, written as JSON for the analysis of a wrong figure.
struct OracleDetails {
    private struct Player: Encodable {
        let way: String
        let watched: [[Double]]
        let there: [Double]
        let answers: [Double]
        let left: Double
    }

    private struct Session: Encodable {
        let way: String
        let watched: Double
        let start: Double
        let end: Double
        let away: [[Double]]
    }

    private struct Sample: Encodable {
        let at: Double
        let live: [String: Int]
        let logLag: Double
        let logged: Double
    }

    private struct Everything: Encodable {
        let kills: [[Double]]
        let players: [Player]
        let sessions: [Session]
        let samples: [Sample]
    }

    private let everything: Everything

    /// - Parameter start: The origin of all times.
    init(
        start: MonotonicTime,
        _ playbacks: [OraclePlayback],
        _ samples: [OracleSample],
        _ sessions: [JSONValue],
        _ kills: [OracleTruth.Kill]
    ) {
        let zero = Date().timeIntervalSince1970 - MonotonicTime.now().seconds(since: start)
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        func seconds(_ text: String?) -> Double {
            text.flatMap { try? format.parse($0) }.map { $0.timeIntervalSince1970 - zero } ?? -1
        }
        everything = Everything(
            kills: kills.map { [$0.killed, $0.listening] },
            players: playbacks.map { playback in
                Player(
                    way: "\(playback.kind)",
                    watched: playback.watched.map { [$0.from, $0.to] },
                    there: playback.spans.map(\.admitted),
                    answers: playback.answers,
                    left: playback.left ?? -1
                )
            },
            sessions: sessions.map { json in
                let row = OracleRow(json)
                return Session(
                    way: row.kind.map { "\($0)" } ?? "unknown",
                    watched: row.watched,
                    start: seconds(row.start),
                    end: seconds(row.end),
                    away: row.away.map { [seconds($0.from), seconds($0.to)] }
                )
            },
            samples: samples.map { sample in
                let live = sample.byKind.map { ("\($0)", $1) }
                return Sample(
                    at: sample.at,
                    live: Dictionary(uniqueKeysWithValues: live),
                    logLag: sample.logLag,
                    logged: min(sample.logged, sample.at)
                )
            }
        )
    }

    func write(to folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = URL(fileURLWithPath: folder).appendingPathComponent("oracle.json")
        try JSONEncoder().encode(everything).write(to: path)
    }
}
