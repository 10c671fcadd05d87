/// What became of one player.
struct PlayerOutcome {
    var media: PlayedMedia?
    var most = 0
    var joins = 0
    var sessions: [(way: String, client: String)] = []
    /// Seconds from its end until it was no longer counted; nil when that was not waited for.
    var goneAfter: Double?
    /// What speaks against it.
    var faults: [String] = []

    var isGood: Bool { faults.isEmpty }

    var cells: [String] {
        [
            media.map { "\($0.pictures.good)/\($0.pictures.all)" } ?? "-",
            media?.level.map { $0.text(1) } ?? "-",
            media?.join.map { $0.text(2) } ?? "-",
            media.flatMap { $0.ages.isEmpty ? nil : ($0.ages.median / 1000).text(2) } ?? "-",
            "\(most), \(joins) joined",
            sessions.map { "\($0.way) \($0.client)" }.joined(separator: " + "),
            goneAfter.map { $0.text(1) } ?? "-",
            isGood ? "good" : faults.joined(separator: "; "),
        ]
    }
}
