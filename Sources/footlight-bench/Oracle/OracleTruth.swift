import Media

/// Lower and upper bounds of the number of viewers over time.
///
/// From outside, times are known to a few hundredths of a second, and a viewer that leaves silently may count until its
/// timeout. So the gateway's count has to lie between two bounds.
struct OracleTruth {
    /// A kill of the gateway, and the time at which it listened again.
    struct Kill: Sendable {
        let killed: Double
        let listening: Double
    }

    /// Seconds of media or playlists that prove a viewer.
    private static let qualifying = (connection: 5.0, requests: 2.0)
    /// The maximum time for which a viewer counts after its last playlist.
    ///
    /// Timers have a resolution of one second and are checked once a second. An LL-HLS player has a shorter timeout,
    /// but at first a new session has the general one.
    private static let timeout = 14.0
    /// Seconds of proofs that may be lost by a kill.
    static let unwritten = 0.2
    /// Seconds around a kill in which access log lines may be lost.
    private static let blindInterval = 0.2

    private let leastSteps: [(at: Double, count: Int)]
    private let mostSteps: [(at: Double, count: Int)]

    /// - Parameters:
    ///   - playbacks: The playbacks of the kinds that are counted together.
    ///   - tolerance: Seconds by which a time seen from outside may differ from the gateway's.
    init(_ playbacks: [OraclePlayback], kills: [Kill], tolerance: Double) {
        var (least, most): ([Double: Int], [Double: Int]) = ([:], [:])
        func add(_ from: Double, _ to: Double, to bound: inout [Double: Int]) {
            guard from < to else { return }
            bound[from, default: 0] += 1
            bound[to, default: 0] -= 1
        }
        for playback in playbacks {
            if playback.kind.isConnection {
                // Whether the viewer is certainly, and possibly, proven by earlier spans.
                var (isSure, isPossible) = (false, false)
                for span in playback.spans {
                    let proven = span.open + Self.qualifying.connection
                    let surely = isSure ? span.open : proven
                    // A proven viewer counts as soon as it reconnects, with or without a program.
                    let possibly = isPossible ? span.admitted : proven
                    add(surely + tolerance, span.close - tolerance, to: &least)
                    add(possibly - tolerance, span.close + tolerance, to: &most)
                    isPossible = isPossible || span.close > proven - tolerance
                    // A proof immediately before a kill may be lost.
                    let next = kills.first { $0.killed >= span.open }
                    let isWritten = next.map { proven < $0.killed - Self.unwritten } ?? true
                    isSure = isSure || (span.close > proven + tolerance && isWritten)
                }
            } else {
                Self.add(
                    playback,
                    kills,
                    tolerance,
                    least: { add($0, $1, to: &least) },
                    most: { add($0, $1, to: &most) }
                )
            }
        }
        leastSteps = Self.steps(least)
        mostSteps = Self.steps(most)
    }

    private static func add(
        _ playback: OraclePlayback,
        _ kills: [Kill],
        _ tolerance: Double,
        least: (Double, Double) -> Void,
        most: (Double, Double) -> Void
    ) {
        guard let left = playback.left, let last = playback.answers.last else { return }
        /// Returns the first playlist at least `gap` seconds after the first one.
        func proven(_ answers: some Sequence<Double>, after gap: Double) -> Double? {
            var first: Double?
            for answer in answers {
                if answer - (first ?? answer) >= gap { return answer }
                first = first ?? answer
            }
            return nil
        }
        // A player without a response between a kill and its leave may have been served without receiving it.
        let isCut = kills.contains { $0.killed > last && $0.killed < left + tolerance }
        let received = isCut ? left : last
        if let earliest = proven(playback.answers, after: qualifying.requests - 0.1) {
            // A kill does not change this: the time of each viewer's last request is stored every second.
            most(earliest - tolerance, received + timeout + tolerance)
        }
        // A log reports all requests, whenever the gateway reads it; access log lines are lost during a restart.
        let isLogged = playback.kind == .log
        let kills = isLogged ? [] : kills
        var (since, begins, isKnown) = (-Double.infinity, 0.0, false)
        for kill in kills + [Kill(killed: .infinity, listening: .infinity)] {
            let end = kill.killed - (isLogged ? 0 : blindInterval)
            let received = playback.answers.lazy.filter { $0 > since && $0 < end }
            let known = isKnown ? begins : proven(received, after: qualifying.requests + 0.1)
            if let known {
                // A viewer proven before a kill counts from the restart on, until its timeout.
                least(max(known, begins) + tolerance, min(left - tolerance, kill.killed))
                isKnown = isKnown || known < kill.killed - unwritten
            }
            (since, begins) = (kill.listening + blindInterval, kill.listening)
        }
    }

    private static func steps(_ changes: [Double: Int]) -> [(at: Double, count: Int)] {
        var count = 0
        return changes.sorted { $0.key < $1.key }.map { at, change in
            count += change
            return (at, count)
        }
    }

    /// Returns the bounds of the count at one time.
    func bounds(at moment: Double) -> ClosedRange<Int> {
        bounds(from: moment, to: moment)
    }

    /// Returns the bounds of the count at an unknown time between two.
    func bounds(from: Double, to: Double) -> ClosedRange<Int> {
        func counts(_ steps: [(at: Double, count: Int)]) -> [Int] {
            let next = Self.index(in: steps, behind: from)
            return [next == 0 ? 0 : steps[next - 1].count] + steps[next...].prefix { $0.at <= to }.map(\.count)
        }
        let low = counts(leastSteps).min() ?? 0
        return low...max(low, counts(mostSteps).max() ?? 0)
    }

    /// Returns the maximum number of concurrent spans, proven or not: settled figures begin with the first media and
    /// end with the last.
    static func peak(of spans: [(from: Double, to: Double)]) -> Int {
        var changes: [Double: Int] = [:]
        for span in spans {
            changes[span.from, default: 0] += 1
            changes[span.to, default: 0] -= 1
        }
        return steps(changes).map(\.count).max() ?? 0
    }

    /// Returns the index of the first step after a time.
    private static func index(in steps: [(at: Double, count: Int)], behind moment: Double) -> Int {
        var (low, high) = (0, steps.count)
        while low < high {
            let middle = (low + high) / 2
            if steps[middle].at <= moment { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The actual playback of one player; times are seconds since the start of the run.
struct OraclePlayback: Sendable {
    /// The protocol and route by which a player plays.
    enum Kind: Int, Sendable, CaseIterable {
        case rtmp
        case flv
        case hls
        case llhls
        /// HLS behind a cache that sends an access log line for each playlist at once.
        case nginx
        /// HLS behind a content network that pushes its log.
        case log

        /// Whether the gateway counts the player by its connection, not by its requests.
        var isConnection: Bool { self == .rtmp || self == .flv }

        /// The name in printed figures.
        var name: String {
            switch self {
            case .rtmp: "RTMP"
            case .flv: "FLV"
            case .hls: "HLS"
            case .llhls: "LL-HLS"
            case .nginx: "nginx"
            case .log: "CDN log"
            }
        }

        /// The User-Agent, by which alone the gateway distinguishes the kinds by HLS.
        var agent: String {
            switch self {
            case .rtmp, .flv: "VLC/3.0.20 LibVLC/3.0.20"
            case .hls: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
            case .llhls: "AppleCoreMedia/1.0.0.21F90 (iPhone; U; CPU OS 17_5 like Mac OS X; en_us)"
            case .nginx: "ExoPlayerDemo/2.19.1 (Linux; Android 14) ExoPlayerLib/2.19.1"
            case .log: "Mozilla/5.0 (SMART-TV; Linux; Tizen 7.0) AppleWebKit/537.36"
            }
        }

        /// The client class that the gateway derives from it.
        var client: String {
            switch self {
            case .rtmp, .flv: "tool"
            case .hls: "web"
            case .llhls: "ios"
            case .nginx: "android"
            case .log: "tv"
            }
        }

        /// Makes the kind of a gateway's session; nil for one by HLS whose client is unknown.
        init?(playback: String?, client: String?) {
            guard let playback else { return nil }
            let found = Self.allCases.first { kind in
                kind.isConnection ? playback == "\(kind)" : kind.client == client && playback.hasSuffix("hls")
            }
            guard let found else { return nil }
            self = found
        }
    }

    /// An interval of playback over one connection.
    struct Span: Sendable {
        /// When the player was admitted; for FLV when it sent its request, because the response comes with the first
        /// media.
        let admitted: Double
        /// When the first media was received.
        let open: Double
        var close = Double.infinity
    }

    let kind: Kind
    /// The device id, if the player sends one.
    let device: String?
    /// The connections; only of players by connection.
    var spans: [Span] = []
    /// When playlists were received; only of players by requests.
    var answers: [Double] = []
    /// When playback ended; nil while it lasts.
    var left: Double?
    /// Unsuccessful responses.
    var refusals = 0
    /// Media files received completely; only of players by requests.
    var files = 0

    /// Whether two playlists had proven the viewer by `moment`, and the proof was stored.
    func isProven(by moment: Double) -> Bool {
        guard let first = answers.first else { return false }
        let late = kind == .log ? OracleLogPush.longestLag : OracleTruth.unwritten
        return answers.contains { $0 - first > 2.1 && $0 < moment - late }
    }

    /// The intervals of playback.
    var watched: [(from: Double, to: Double)] {
        if kind.isConnection { return spans.map { ($0.open, $0.close) } }
        guard let first = answers.first else { return [] }
        return [(first, left ?? first)]
    }

    /// The intervals of playback as the gateway can know them: a player by requests leaves silently, and is assumed to
    /// have watched for half a poll interval after its last request.
    var dated: [(from: Double, to: Double)] {
        guard !kind.isConnection, let first = answers.first, let last = answers.last else { return watched }
        // The median interval: a player with blocking reloads leaves somewhere between two of them.
        let polls = zip(answers.dropFirst(), answers).map { $0 - $1 }.sorted()
        let poll = polls.isEmpty ? 0 : polls[polls.count / 2]
        return [(first, last + min(poll, OracleScript.poll) / 2)]
    }

    /// The watch time in seconds.
    var watchedSeconds: Double { watched.reduce(0) { $0 + $1.to - $1.from } }

    /// The watch time plus the times in which the player was reconnected and waited for the program.
    var presentSeconds: Double {
        guard kind.isConnection else { return watchedSeconds }
        let times = spans.enumerated().map { $1.close - ($0 == 0 ? $1.open : $1.admitted) }
        return times.reduce(0, +)
    }

    /// Returns the seconds before its first playlist after a kill by which it was not proven, so that they were lost.
    func secondsForgotten(by kills: [OracleTruth.Kill]) -> Double {
        guard !kind.isConnection, kind != .log, let first = answers.first else { return 0 }
        let forgetting = kills.last { first < $0.killed && !isProven(by: $0.killed) }
        guard let forgetting else { return 0 }
        return (answers.first { $0 > forgetting.listening } ?? first) - first
    }

    /// Returns the number of kills that interrupted the playback.
    func cuts(by kills: [OracleTruth.Kill]) -> Int {
        kills.count { kill in
            watched.contains { $0.from < kill.killed && $0.to > kill.killed - 0.1 }
        }
    }
}
