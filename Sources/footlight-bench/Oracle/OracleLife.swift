import Media

/// What one player really did; times are seconds since the oracle began.
struct OracleLife: Sendable {
    /// A way in.
    enum Kind: Int, Sendable, CaseIterable {
        case rtmp
        case flv
        case hls
        case llhls
        /// HLS behind a cache that tells the gateway of each playlist at once.
        case nginx
        /// HLS behind a content network that pushes its log.
        case log

        /// Whether the gateway sees it by its connection, and not by its requests.
        var isConnection: Bool { self == .rtmp || self == .flv }

        /// How it is called in what is printed.
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

        /// What its players call themselves, for the gateway tells ways by HLS apart by nothing else.
        var agent: String {
            switch self {
            case .rtmp, .flv: "VLC/3.0.20 LibVLC/3.0.20"
            case .hls: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
            case .llhls: "AppleCoreMedia/1.0.0.21F90 (iPhone; U; CPU OS 17_5 like Mac OS X; en_us)"
            case .nginx: "ExoPlayerDemo/2.19.1 (Linux; Android 14) ExoPlayerLib/2.19.1"
            case .log: "Mozilla/5.0 (SMART-TV; Linux; Tizen 7.0) AppleWebKit/537.36"
            }
        }

        /// The class of player that the gateway makes of that.
        var client: String {
            switch self {
            case .rtmp, .flv: "tool"
            case .hls: "web"
            case .llhls: "ios"
            case .nginx: "android"
            case .log: "tv"
            }
        }

        /// Which way a session of the gateway came; nil for one by HLS whose player it does not know.
        init?(playback: String?, client: String?) {
            guard let playback else { return nil }
            let found = Self.allCases.first { kind in
                kind.isConnection ? playback == "\(kind)" : kind.client == client && playback.hasSuffix("hls")
            }
            guard let found else { return nil }
            self = found
        }
    }

    /// A time in which it watched by a connection.
    struct Span: Sendable {
        /// When it was let in, or asked where that is told with the first media only.
        let letIn: Double
        /// When the first media came.
        let open: Double
        var close = Double.infinity
    }

    let kind: Kind
    /// What its device calls itself, where it does.
    let device: String?
    /// Only of players by connection.
    var spans: [Span] = []
    /// When playlists were answered; only of players by requests.
    var answers: [Double] = []
    /// When it stopped to play; nil while it does.
    var left: Double?
    /// Answers other than what it asked for.
    var refusals = 0
    /// Media files that it was sent whole; only of players by requests.
    var files = 0

    /// Whether two playlists had proven it by then, and it was written down that they did.
    func isProven(by moment: Double) -> Bool {
        guard let first = answers.first else { return false }
        let late = kind == .log ? OracleLogPush.longestLag : OracleTruth.unwritten
        return answers.contains { $0 - first > 2.1 && $0 < moment - late }
    }

    /// When it watched.
    var watched: [(from: Double, to: Double)] {
        if kind.isConnection { return spans.map { ($0.open, $0.close) } }
        guard let first = answers.first else { return [] }
        return [(first, left ?? first)]
    }

    /// When it watched, as far as anybody could know who sees what the gateway is shown: a player by requests goes without
    /// a word, and is taken to have watched for half a poll behind its last one.
    var dated: [(from: Double, to: Double)] {
        guard !kind.isConnection, let first = answers.first, let last = answers.last else { return watched }
        // The median: a player that waits for each segment comes somewhere between two of them.
        let polls = zip(answers.dropFirst(), answers).map { $0 - $1 }.sorted()
        let poll = polls.isEmpty ? 0 : polls[polls.count / 2]
        return [(first, last + min(poll, OracleScript.poll) / 2)]
    }

    /// Seconds that it watched.
    var watchedSeconds: Double { watched.reduce(0) { $0 + $1.to - $1.from } }

    /// The same with the times in which it was back, and waited for a program that was not.
    var presentSeconds: Double {
        guard kind.isConnection else { return watchedSeconds }
        let times = spans.enumerated().map { $1.close - ($0 == 0 ? $1.open : $1.letIn) }
        return times.reduce(0, +)
    }

    /// Seconds up to its first playlist behind a kill by which it was not proven yet, so that nobody knew it any more.
    func secondsForgotten(by kills: [OracleTruth.Kill]) -> Double {
        guard !kind.isConnection, kind != .log, let first = answers.first else { return 0 }
        let forgetting = kills.last { first < $0.killed && !isProven(by: $0.killed) }
        guard let forgetting else { return 0 }
        return (answers.first { $0 > forgetting.listening } ?? first) - first
    }

    /// How often a kill cut it off.
    func cuts(by kills: [OracleTruth.Kill]) -> Int {
        kills.count { kill in
            watched.contains { $0.from < kill.killed && $0.to > kill.killed - 0.1 }
        }
    }
}
