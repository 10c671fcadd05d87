import Media

/// What one player really did; times are seconds since the oracle began.
struct OracleLife: Sendable {
    enum Kind: Int, Sendable, CaseIterable {
        case rtmp
        case flv
        case hls
        case llhls

        /// Whether the gateway sees it by its connection, and not by its requests.
        var isConnection: Bool { self == .rtmp || self == .flv }
    }

    let kind: Kind
    /// What its device calls itself, where it does.
    let device: String?
    /// When its connections were let in, brought the first media, and closed; only of players by connection.
    var spans: [(letIn: Double, open: Double, close: Double)] = []
    /// When playlists were answered; only of players by requests.
    var answers: [Double] = []
    /// When it stopped to play; nil while it does.
    var left: Double?
    /// Answers other than what it asked for.
    var refusals = 0

    /// Whether two playlists had proven it by then, and it was written down that they did.
    func isProven(by moment: Double) -> Bool {
        guard let first = answers.first else { return false }
        return answers.contains { $0 - first > 2.1 && $0 < moment - 2 }
    }

    /// When it watched.
    var watched: [(from: Double, to: Double)] {
        if kind.isConnection { return spans.map { ($0.open, $0.close) } }
        guard let first = answers.first else { return [] }
        return [(first, left ?? first)]
    }

    /// Seconds that it watched.
    var watchedSeconds: Double { watched.reduce(0) { $0 + $1.to - $1.from } }
}
