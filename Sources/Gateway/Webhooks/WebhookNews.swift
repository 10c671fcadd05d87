import ControlAPI
import Foundation
import Logging
import ServiceLifecycle
import Stage
import Synchronization
import Viewership
import ViewershipStore
import Webhooks

/// Gives the webhooks what there is to tell: what happens on the stage, and reports of the audience.
///
/// It has to be made before hosts and viewers are let in, and after the rooms of an earlier life are back, for those are
/// no news.
final class WebhookNews: Service {
    /// Under this name the outbox keeps up to which end of a broadcast summaries were told.
    private static let summaryMark = "summaries"
    /// Seconds between two looks for broadcasts that have ended, when nothing says that one has.
    private static let lookPause = 30
    private static let summariesAtOnce = 1000

    private let webhooks: WebhookDispatcher
    private let routes: ControlRoutes
    private let viewership: ViewershipLedger
    private let history: HistoryKeeper
    private struct Reports {
        /// Which thresholds broadcasts have reached, before us too.
        var thresholds: ThresholdWatch
        var minute = WebhookNews.presentMinute
        var turns = 0
    }

    private let reports: Mutex<Reports>
    private let showNews: Mutex<ShowNews>
    /// Says that broadcasts may have ended whose summaries are to be told.
    private let endings = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let start = Int64(Date().timeIntervalSince1970 * 1000)
    private let logger: Logger
    /// Looks for ended broadcasts that are still to be made; the history is written a moment after the end.
    private let looks = Atomic<Int>(1)
    private let observation = Mutex<StageObservation?>(nil)

    init(
        webhooks: WebhookDispatcher,
        routes: ControlRoutes,
        stage: RoomDirectory,
        viewership: ViewershipLedger,
        history: HistoryKeeper,
        thresholds: [Int],
        logger: Logger
    ) {
        self.webhooks = webhooks
        self.routes = routes
        self.viewership = viewership
        self.history = history
        self.logger = logger
        var known = ThresholdWatch(thresholds)
        for room in viewership.totals().rooms { _ = known.note(room, isKnown: true) }
        reports = Mutex(Reports(thresholds: known))
        showNews = Mutex(ShowNews(rooms: stage.rooms(.inProgress)))
        webhooks.whenDisabled { [weak self] endpoint in
            guard let self else { return }
            self.webhooks.post(self.routes.disabledEvent(of: endpoint))
        }
        let observation = stage.observe { [weak self] event in self?.tell(event) }
        self.observation.withLock { $0 = observation }
    }

    private func tell(_ event: StageEvent) {
        if let news = routes.webhookEvent(of: event) { webhooks.post(news) }
        for news in showNews.withLock({ $0.news(of: event) }) {
            if let told = routes.webhookEvent(of: news.event, as: news.name) { webhooks.post(told) }
        }
        switch event.payload {
        case .roomEnded, .roomUpdated: looks.store(5, ordering: .relaxed)
        default: break
        }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            await withDiscardingTaskGroup { group in
                group.addTask { await self.webhooks.run() }
                group.addTask { await self.summarise() }
            }
        }
        await webhooks.close()
    }

    /// Looks for what is to be told of the rooms' audiences: thresholds, and at each minute the figures of every room.
    ///
    /// To be called about once a second; waits for nothing.
    func look(at rooms: [RoomViewership]) {
        let (events, isTurn) = reports.withLock { reports in
            var events: [WebhookEvent] = []
            for room in rooms {
                events += reports.thresholds.note(room).map { routes.thresholdEvent($0, of: room) }
            }
            reports.thresholds.keep(only: Set(rooms.map(\.room)))
            if reports.minute != Self.presentMinute {
                reports.minute = Self.presentMinute
                events += rooms.map { routes.minuteEvent(of: $0) }
            }
            reports.turns += 1
            return (events, reports.turns % Self.lookPause == 0)
        }
        for event in events { webhooks.post(event) }
        let isDue = looks.load(ordering: .relaxed) > 0
        if isDue { looks.subtract(1, ordering: .relaxed) }
        if isDue || isTurn { endings.continuation.yield() }
    }

    private static var presentMinute: Int { Int(Date().timeIntervalSince1970) / 60 }

    /// Tells the summaries of what is over, each time that something may be.
    private func summarise() async {
        // Where the last life stopped telling; a gateway that has never told anything begins with now.
        var mark = (try? await webhooks.mark(Self.summaryMark)) ?? start
        for await _ in endings.stream { mark = await summarise(after: mark) }
    }

    /// Tells the summaries of the broadcasts that have ended since.
    ///
    /// - Returns: Up to which end all are told.
    private func summarise(after mark: Int64) async -> Int64 {
        var mark = mark
        do {
            for broadcast in try await history.ended(after: mark, limit: Self.summariesAtOnce) {
                guard let end = broadcast.ended else { continue }
                webhooks.post(
                    try await routes.summaryEvent(
                        of: broadcast,
                        in: history,
                        mark: (name: Self.summaryMark, value: end)
                    ) { [webhooks] in webhooks.wants($0) }
                )
                mark = end
            }
        } catch {
            logger.warning("a broadcast's summary cannot be told yet", metadata: ["reason": "\(error)"])
        }
        return mark
    }
}
