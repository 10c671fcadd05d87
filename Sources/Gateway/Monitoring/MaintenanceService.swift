import Admission
import Egress
import FanOut
import Logging
import Media
import MixerProcess
import ServiceLifecycle
import Stage
import Viewership
import Persistence
import Shows

/// Runs the periodic work of rooms, viewers, logs, playlists and memory, and writes the viewership history.
///
/// One loop serves all of them, because each wake-up of an idle process has a cost. Nothing in it blocks.
struct MaintenanceService: Service {
    /// The interval while a room has participants; the dominant speaker may change within a second.
    private static let interval = Duration.milliseconds(250)
    private static let ticksPerSecond = 4
    /// Heartbeats let event stream readers distinguish an idle room from a dead connection.
    private static let ticksPerHeartbeat = RoomDirectory.heartbeatInterval * ticksPerSecond
    private static let ticksPerMeasurement = 5 * ticksPerSecond

    let pipeline: Pipeline
    let webhookEvents: WebhookEventService
    let web: GatewayWeb
    let health: Health
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var tick = 0
            var memory = MemoryMonitor()
            var renditions = RenditionMonitor()
            var pending = PendingPrograms()
            while !Task.isCancelled {
                let isBusy = pipeline.stage.sweep()
                if tick % Self.ticksPerHeartbeat == 0 { pipeline.stage.broadcastHeartbeat() }
                if tick % Self.ticksPerMeasurement == 0 { web.system.measureTransfers() }
                if tick % Self.ticksPerSecond == 0 {
                    pipeline.shows.advance()
                    updateAudience(&pending)
                    checkMemory(&memory)
                    checkRenditions(&renditions)
                }
                let ticks = isBusy ? 1 : Self.ticksPerSecond - tick % Self.ticksPerSecond
                tick += ticks
                // Cancellation ends the sleep and, with it, the loop.
                try? await Task.sleep(for: Self.interval * ticks)
            }
        }
        // The last changes.
        await pipeline.history.write(pipeline.viewership.drainHistory())
    }

    private func updateAudience(_ pending: inout PendingPrograms) {
        pipeline.logs.advance()
        pipeline.viewership.advance(to: .now())
        for room in pipeline.gate.advance() { pipeline.hls.setPrivate(room, false) }
        let rooms = pipeline.viewership.totals().rooms
        // The stage emits events for changed figures only.
        for room in rooms { pipeline.stage.viewershipChanged(room: room.room, viewers: room.concurrent) }
        let watched = rooms.filter { $0.concurrent > 0 }.map(\.room)
        for (entry, isOn) in pending.update(to: pipeline.viewerDemands(watched)) {
            pipeline.mixers.demandChanged(room: entry.room, entry.demand, isOn: isOn)
        }
        webhookEvents.update(rooms)
        web.recordTotals()
        pipeline.history.write(pipeline.viewership)
        pipeline.playlists.tick()
        pipeline.hls.sweep()
    }

    /// Disconnects viewers of renditions that the mixer does not encode, and warns operators whose outputs push one.
    private func checkRenditions(_ monitor: inout RenditionMonitor) {
        let stalled = pipeline.feeds.dismissViewersOfStalledRenditions().map { name, sinks in
            let pushes = sinks.compactMap { ($0 as? RTMPPush)?.status }.filter { $0.state != .stopped }
            return (name, Set(pushes.map(\.name)))
        }
        let warnings = monitor.update(stalled: Dictionary(stalled, uniquingKeysWith: { $1 })) { name in
            pipeline.feeds.feed(name.text) != nil
        }
        for (room, warning) in warnings { pipeline.stage.livestreamWarned(room: room, warning) }
    }

    /// Refuses new viewers while memory is short; hosts and connected viewers are not affected.
    private func checkMemory(_ memory: inout MemoryMonitor) {
        guard let used = MemoryUsage.current()?.usedFraction, let isShort = memory.update(used) else { return }
        pipeline.feeds.setAdmissionSuspended(isShort)
        health.set(.memory, isShort ? "\(Int(used * 100)) percent of the memory is in use" : nil)
        logger.log(
            level: isShort ? .warning : .notice,
            isShort ? "memory is short: new viewers are refused" : "memory has recovered: new viewers are admitted",
            metadata: ["used_percent": "\(Int(used * 100))"]
        )
    }
}

/// Tracks the rooms whose viewers demand a program, with or without hosts.
struct PendingPrograms {
    /// A demand for a room's program.
    struct Entry: Hashable {
        let room: String
        let demand: MixerSupervision.Demand
    }

    private var entries: Set<Entry> = []

    init() {}

    /// Applies the present demands.
    ///
    /// - Returns: The demands to pass to the mixers: each present one every time, because a new room may have taken the
    ///   name of an ended one, and each former one once.
    mutating func update(to entries: Set<Entry>) -> [(entry: Entry, isOn: Bool)] {
        defer { self.entries = entries }
        return self.entries.subtracting(entries).map { ($0, false) } + entries.map { ($0, true) }
    }
}

extension Pipeline {
    /// Returns the demands of the rooms' viewers for their programs.
    ///
    /// A watched program survives the last host and a restart of the gateway. Viewers who come before the first host
    /// see the starting slate if the room has one of its own.
    ///
    /// - Parameter counted: The rooms with counted viewers.
    func viewerDemands(_ counted: [String]) -> Set<PendingPrograms.Entry> {
        var rooms = Set(counted).union(hls.roomsWithWaitingPlayers)
        for feed in feeds.all where feed.activity.viewers > 0 {
            if let rendition = RenditionFeedName(feed.name) {
                rooms.insert(rendition.room)
            } else if FeedAudience(of: feed.name).isCounted {
                rooms.insert(feed.name)
            }
        }
        var entries: Set<PendingPrograms.Entry> = []
        for room in rooms where feeds.feed(room) != nil {
            entries.insert(.init(room: room, demand: .viewers))
            if hasStartingSlate(room) || hls.isResuming(room) { entries.insert(.init(room: room, demand: .opening)) }
        }
        return entries
    }

    private func hasStartingSlate(_ room: String) -> Bool {
        (try? stage.room(room))?.settings.layout.slates.startingSoon != nil
    }
}

/// Detects a shortage of memory and its end, with hysteresis.
struct MemoryMonitor {
    /// New viewers are refused above the high fraction, and admitted again below the low one.
    private static let watermark = (high: 0.80, low: 0.75)

    private var isShort = false

    /// Applies a reading, the used fraction of memory from 0 to 1.
    ///
    /// - Returns: Whether memory is short, if that has changed; nil otherwise.
    mutating func update(_ used: Double) -> Bool? {
        let isNowShort = used > (isShort ? Self.watermark.low : Self.watermark.high)
        guard isNowShort != isShort else { return nil }
        isShort = isNowShort
        return isNowShort
    }
}

/// Makes the warnings about outputs whose rendition the mixer stops or resumes encoding.
struct RenditionMonitor {
    /// The outputs with a warning, by rendition.
    private var reported: [RenditionFeedName: Set<String>] = [:]

    init() {}

    /// Applies the present state.
    ///
    /// - Parameters:
    ///   - stalled: The stalled renditions, with the names of the outputs that push them.
    ///   - exists: Whether a rendition still exists; one that ended with its room needs no warning.
    /// - Returns: The new warnings, by room.
    mutating func update(
        stalled: [RenditionFeedName: Set<String>],
        exists: (RenditionFeedName) -> Bool
    ) -> [(room: String, warning: LivestreamWarning)] {
        var warnings: [(room: String, warning: LivestreamWarning)] = []
        for (name, outputs) in reported where stalled[name] == nil {
            reported[name] = nil
            guard exists(name) else { continue }
            for output in outputs.sorted() {
                let message = "Output \(output): rendition \(name.rendition) is made again"
                warnings.append((name.room, LivestreamWarning(.renditionResumed, output: output, message: message)))
            }
        }
        for (name, outputs) in stalled {
            let known = reported[name] ?? []
            reported[name] = known.union(outputs)
            for output in outputs.subtracting(known).sorted() {
                let message = "Output \(output): rendition \(name.rendition) is not made at present"
                warnings.append((name.room, LivestreamWarning(.renditionStopped, output: output, message: message)))
            }
        }
        return warnings
    }
}
