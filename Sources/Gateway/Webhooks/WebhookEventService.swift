import ControlAPI
import Egress
import Foundation
import FootlightModel
import Logging
import Media
import ServiceLifecycle
import Stage
import Synchronization
import Viewership
import Persistence
import Webhooks

/// Posts events to the webhooks: events of the stage, viewer thresholds, minute figures and broadcast summaries.
///
/// Create it after the stored rooms are restored, which cause no events, and before hosts and viewers are admitted.
final class WebhookEventService: Service {
    /// The name under which the outbox stores the end of the last summarised broadcast.
    private static let summaryCursor = "summaries"
    /// Seconds between two checks for ended broadcasts without an event.
    private static let summaryInterval = 30
    private static let summariesAtOnce = 1000

    /// Seconds between two looks at what keeps hosts from being heard or seen.
    private static let diagnosisInterval = 2

    private let webhooks: WebhookDispatcher
    private let stage: RoomDirectory
    private let builder: WebhookEventBuilder
    private let viewership: ViewershipLedger
    private let history: HistoryStore
    private struct Reports {
        /// The thresholds that broadcasts have reached.
        var thresholds: ThresholdMonitor
        var diagnosis = DiagnosisMonitor()
        var minute = WebhookEventService.presentMinute
        var turns = 0
    }

    private let reports: Mutex<Reports>
    private let eventMapper: Mutex<WebhookEventMapper>
    /// Signals that broadcasts may have ended.
    private let checkSignals = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let start = Int64(Date().timeIntervalSince1970 * 1000)
    private let logger: Logger
    /// The remaining checks after an event, because the history is written a moment after a broadcast's end.
    private let pendingChecks = Atomic<Int>(1)
    private let observation = Mutex<StageObservation?>(nil)

    init(
        webhooks: WebhookDispatcher,
        builder: WebhookEventBuilder,
        stage: RoomDirectory,
        viewership: ViewershipLedger,
        history: HistoryStore,
        thresholds: [Int],
        logger: Logger
    ) {
        self.webhooks = webhooks
        self.stage = stage
        self.builder = builder
        self.viewership = viewership
        self.history = history
        self.logger = logger
        var known = ThresholdMonitor(thresholds)
        for room in viewership.totals().rooms { _ = known.update(room, isKnown: true) }
        reports = Mutex(Reports(thresholds: known))
        eventMapper = Mutex(WebhookEventMapper(rooms: stage.rooms(.inProgress)))
        webhooks.onEndpointDisabled { [weak self] endpoint in
            guard let self else { return }
            self.webhooks.post(self.builder.disabledEvent(of: endpoint))
        }
        let observation = stage.observe { [weak self] event in self?.post(event) }
        self.observation.withLock { $0 = observation }
    }

    private func post(_ event: StageEvent) {
        if let webhookEvent = builder.webhookEvent(of: event) { webhooks.post(webhookEvent) }
        for change in eventMapper.withLock({ $0.events(of: event) }) {
            if let mapped = builder.webhookEvent(of: change.event, as: change.name) { webhooks.post(mapped) }
        }
        switch event.payload {
        case .roomEnded, .roomUpdated: pendingChecks.store(5, ordering: .relaxed)
        default: break
        }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            await withDiscardingTaskGroup { group in
                group.addTask { await self.webhooks.run() }
                group.addTask { await self.sendSummaries() }
            }
        }
        await webhooks.close()
    }

    /// Posts thresholds, what keeps hosts from being heard or seen, and, at each minute, the figures of every room.
    ///
    /// Called about once per second; must not block.
    func update(_ rooms: [RoomViewership]) {
        let (events, turn) = reports.withLock { reports in
            var events: [WebhookEvent] = []
            for room in rooms {
                events += reports.thresholds.update(room).map { builder.thresholdEvent($0, of: room) }
            }
            reports.thresholds.removeRooms(except: Set(rooms.map(\.room)))
            if reports.minute != Self.presentMinute {
                reports.minute = Self.presentMinute
                events += rooms.map { builder.minuteEvent(of: $0) }
            }
            reports.turns += 1
            return (events, reports.turns)
        }
        for event in events { webhooks.post(event) }
        if turn % Self.diagnosisInterval == 0 { diagnose() }
        let isDue = pendingChecks.load(ordering: .relaxed) > 0
        if isDue { pendingChecks.subtract(1, ordering: .relaxed) }
        if isDue || turn % Self.summaryInterval == 0 { checkSignals.continuation.yield() }
    }

    private func diagnose() {
        guard webhooks.hasSubscribers(to: .webhook(.hostDiagnosis)) else { return }
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let rooms = stage.rooms(.inProgress)
        let diagnoses = rooms.map { (try? stage.diagnosis(room: $0.sid, cores: cores))?.hosts ?? [] }
        let now = Double(MonotonicTime.now().nanoseconds) / 1e9
        let changed = reports.withLock { $0.diagnosis.update(diagnoses.flatMap(\.self), at: now) }
        for host in changed {
            guard let index = diagnoses.firstIndex(where: { $0.contains { $0.sid == host.sid } }) else { continue }
            webhooks.post(builder.diagnosisEvent(of: host, in: rooms[index], at: Date().timeIntervalSince1970))
        }
    }

    private static var presentMinute: Int { Int(Date().timeIntervalSince1970) / 60 }

    /// Posts the summaries of ended broadcasts at each signal.
    private func sendSummaries() async {
        // Continues after the last run; without one, begins now.
        var mark = (try? await webhooks.mark(Self.summaryCursor)) ?? start
        for await _ in checkSignals.stream { mark = await sendSummaries(after: mark) }
    }

    /// Posts the summaries of the broadcasts that ended after `mark`.
    ///
    /// - Returns: The end of the last posted broadcast.
    private func sendSummaries(after mark: Int64) async -> Int64 {
        var mark = mark
        do {
            for broadcast in try await history.ended(after: mark, limit: Self.summariesAtOnce) {
                guard let end = broadcast.ended else { continue }
                webhooks.post(
                    try await builder.summaryEvent(
                        of: broadcast,
                        in: history,
                        mark: (name: Self.summaryCursor, value: end)
                    ) { [webhooks] in webhooks.hasSubscribers($0) }
                )
                mark = end
            }
        } catch {
            logger.warning("broadcast summary could not be posted yet", metadata: ["reason": "\(error)"])
        }
        return mark
    }
}

/// Detects the viewer thresholds that a broadcast reaches for the first time.
struct ThresholdMonitor: Sendable {
    private struct Reached {
        /// The start of the broadcast, which identifies it within the room.
        var beganAt: Double
        var peak: Int
    }

    private let thresholds: [Int]
    private var rooms: [String: Reached] = [:]

    init(_ thresholds: [Int]) {
        self.thresholds = thresholds.sorted()
    }

    /// Applies a room's peak.
    ///
    /// - Parameter isKnown: Whether the broadcast began before this process, so that reached thresholds are not
    ///   reported.
    /// - Returns: The thresholds that are reached since the last call.
    mutating func update(room: String, beganAt: Double, peak: Int, isKnown: Bool = false) -> [Int] {
        var before = rooms[room]?.beganAt == beganAt ? rooms[room]?.peak ?? 0 : 0
        if isKnown { before = max(before, peak) }
        rooms[room] = Reached(beganAt: beganAt, peak: max(before, peak))
        return thresholds.filter { $0 > before && $0 <= peak }
    }

    mutating func update(_ room: RoomViewership, isKnown: Bool = false) -> [Int] {
        let beganAt = room.beganAt ?? 0
        return update(room: room.room, beganAt: beganAt, peak: room.peak, isKnown: isKnown)
    }

    /// Removes the rooms that are not among the names.
    mutating func removeRooms(except names: Set<String>) {
        rooms = rooms.filter { names.contains($0.key) }
    }
}

/// Decides to which addresses webhooks may be posted: the rules of outputs with the web's ports.
struct WebhookGuard: Sendable {
    private let targets: TargetResolver

    init(allowsPrivateAddresses: Bool) {
        targets = TargetResolver(
            TargetPolicy(allowsPrivateAddresses: allowsPrivateAddresses, allowedPorts: [80, 443, 8080, 8443])
        )
    }

    /// Changes whether webhooks may be posted to private and loopback addresses.
    func setAllowsPrivateAddresses(_ isAllowed: Bool) {
        targets.setAllowsPrivateAddresses(isAllowed)
    }

    /// Excludes a port of this gateway.
    func refuse(ownPort: UInt16) {
        targets.refuse(ownPort: ownPort)
    }

    func vet(_ host: String, port: UInt16, within seconds: Double) async -> VettedHost {
        do {
            return .addresses(try await targets.addresses(of: host, port: port, within: seconds))
        } catch {
            return error.code == .forbiddenAddress ? .forbidden : .notFound
        }
    }
}
