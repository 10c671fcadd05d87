import Stage

/// The kinds of events that a webhook can be told of.
///
/// They are those of a room's stream, by the same names, those of `ShowNews`, and reports of the audience. The stream's
/// news of each change of the audience comes once a minute instead, and what concerns one reader of a stream alone is not
/// told at all.
enum WebhookType {
    static let minute = "viewership.minute"
    static let threshold = "viewership.threshold"
    static let summary = "broadcast.summary"
    static let disabled = "webhook.disabled"
    /// Sent on demand, to whom it is about.
    static let test = "webhook.test"

    /// All that can be asked for.
    static let all: [String] =
        StageEvent.Name.allCases.filter { isTold($0) }.map(\.rawValue) + ShowNews.Name.allCases.map(\.rawValue)
        + [minute, threshold, summary, disabled]

    /// Whether an event of a room's stream is told.
    static func isTold(_ name: StageEvent.Name) -> Bool {
        switch name {
        case .roomSnapshot, .sessionDisconnected, .heartbeat, .viewershipUpdated: false
        default: true
        }
    }
}
