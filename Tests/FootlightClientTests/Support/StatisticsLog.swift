import FootlightClient

/// What a publisher reports, in order.
@MainActor
final class StatisticsLog {
    private(set) var all: [PublisherStatistics] = []
    private var task: Task<Void, Never>?

    init(_ publisher: RTMPPublisher) {
        let statistics = publisher.statistics
        task = Task { [weak self] in
            for await report in statistics { self?.all.append(report) }
        }
    }

    deinit {
        task?.cancel()
    }

    /// The states, each as often as it was entered.
    var states: [PublisherState] {
        all.map(\.state).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }
}
