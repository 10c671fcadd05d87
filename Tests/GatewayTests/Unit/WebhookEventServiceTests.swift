import Assets
import ControlAPI
import Egress
import FootlightModel
import FootlightTesting
import Foundation
import Logging
import NIOCore
import NIOPosix
import Persistence
import TestSupport
import Testing
import Viewership
import Webhooks

@testable import Gateway
@testable import Stage

@Suite("What keeps hosts from being heard, as events")
struct DiagnosisMonitorTests {
    private func host(_ sound: HostDiagnosis.Cause, _ video: HostDiagnosis.Cause = .none) -> HostDiagnosis {
        func finding(_ cause: HostDiagnosis.Cause) -> HostDiagnosis.Finding {
            HostDiagnosis.Finding(cause: cause, message: cause.rawValue, advice: "")
        }
        return HostDiagnosis(
            sid: "PA1",
            identity: "ann",
            displayName: "Ann",
            sound: finding(sound),
            video: finding(video)
        )
    }

    @Test("a cause is told once it has lasted ten seconds, and so is its end")
    func causes() {
        var monitor = DiagnosisMonitor()
        #expect(monitor.update([host(.notConnected, .notConnected)], at: 0).isEmpty)
        #expect(monitor.update([host(.none)], at: 6).isEmpty)
        #expect(monitor.update([host(.gainDown)], at: 20).isEmpty)
        #expect(monitor.update([host(.gainDown)], at: 29).isEmpty)
        #expect(monitor.update([host(.gainDown)], at: 30).map(\.sound.cause) == [.gainDown])
        #expect(monitor.update([host(.gainDown)], at: 40).isEmpty)
        // Another cause begins anew.
        #expect(monitor.update([host(.silent)], at: 42).isEmpty)
        #expect(monitor.update([host(.none)], at: 44).isEmpty)
        #expect(monitor.update([host(.backstage, .backstage)], at: 54).map(\.sound.cause) == [.backstage])
        #expect(monitor.update([host(.backstage, .backstage)], at: 99).isEmpty)
        // One that left and came back is new.
        #expect(monitor.update([], at: 100).isEmpty)
        #expect(monitor.update([host(.none, .noTrack)], at: 101).isEmpty)
        #expect(monitor.update([host(.none, .noTrack)], at: 112).map(\.video.cause) == [.noTrack])
    }
}

@Suite("Webhook events of a room", .enabled(if: TestRun.isFull), .timeLimit(.minutes(1)))
struct WebhookEventServiceTests {
    private struct NoMixer: Error {}

    /// Runs a gateway's components without listeners, and a webhook with a forbidden address.
    private func run(
        _ folder: TemporaryFolder,
        _ body: (Pipeline, WebhookDispatcher) async throws -> Void
    ) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let secrets = try GatewaySecrets(DataDirectory(folder.file("data")))
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let configuration = GatewayConfiguration()
        let pipeline = Pipeline(
            configuration: configuration,
            group: group,
            secrets: secrets,
            tokens: await AccessTokens(signingKey: secrets.signingKey, kid: secrets.signingKeyName),
            database: folder.file("data/rooms.sqlite"),
            viewershipDatabase: folder.file("data/viewership.sqlite"),
            ticketDatabase: folder.file("data/tickets.sqlite"),
            showDatabase: folder.file("data/shows.sqlite"),
            assets: AssetStore(path: folder.file("data/assets")),
            launchMixer: { _, _, _ in throw NoMixer() },
            logger: logger
        )
        let webhooks = WebhookDispatcher(
            WebhookConfiguration(configuration),
            store: OutboxStore(path: folder.file("data/webhooks.sqlite"), logger: logger),
            vet: { _, _, _ in .forbidden },
            group: group,
            logger: logger
        )
        webhooks.load()
        let health = Health(logger: logger)
        let web = try GatewayWeb(
            pipeline: pipeline,
            webhooks: webhooks,
            ports: ListeningPorts { _ in },
            health: health,
            configuration: configuration,
            directory: DataDirectory(folder.file("data")),
            logger: logger
        )
        let service = WebhookEventService(
            webhooks: webhooks,
            builder: web.routes.webhookEvents,
            stage: pipeline.stage,
            viewership: pipeline.viewership,
            history: pipeline.history,
            thresholds: [1],
            logger: logger
        )
        let running = Task { try await service.run() }
        let maintenance = MaintenanceService(
            pipeline: pipeline,
            webhookEvents: service,
            web: web,
            health: health,
            logger: logger
        )
        let maintaining = Task { try await maintenance.run() }
        var failure: (any Error)?
        do { try await body(pipeline, webhooks) } catch { failure = error }
        running.cancel()
        maintaining.cancel()
        try await maintaining.value
        try await running.value
        pipeline.livestreams.shutdown()
        await pipeline.roomStore.close(within: 5)
        await pipeline.history.close()
        try await group.shutdownGracefully()
        if let failure { throw failure }
    }

    @Test(
        "posts a room's events in order, a threshold and one summary, and nothing for restored rooms"
    )
    func show() async throws {
        let folder = try TemporaryFolder("webhooks")
        var id = ""
        try await run(folder) { (pipeline, webhooks) async throws in
            var draft = WebhookDraft()
            draft.url = "https://hooks.example/in"
            id = try await webhooks.create(draft).id
            _ = try pipeline.stage.create(RoomSettings(name: "show"))
            _ = try pipeline.stage.create(RoomSettings(name: "other"))
            let ada = try pipeline.stage.join(room: "show", JoinRequest(identity: "ada", mode: .receiveOnly))
            try pipeline.stage.heartbeat(room: "show", participant: "ada", sessionID: ada.sessionID)
            #expect(pipeline.viewership.report(room: "show").concurrent == 1)
            let isReported = try await eventually {
                try await types(webhooks, id).contains("viewership.threshold")
            }
            #expect(isReported)
            try pipeline.stage.end(room: "show")
            let summarised = try await eventually {
                try await types(webhooks, id).contains("broadcast.summary")
            }
            #expect(summarised)
            #expect(await pipeline.roomStore.flush(within: 5))
        }
        try await run(folder) { (_, webhooks) async throws in
            let all = try await webhooks.deliveries(of: id, limit: 100).reversed()
            let show = all.filter { $0.room == "show" }.map(\.type.rawValue)
            #expect(show.first == "room.created")
            let order = [
                "room.created", "room.started", "participant.joined", "viewership.threshold", "room.ended",
                "broadcast.summary",
            ]
            #expect(
                order.compactMap { show.firstIndex(of: $0) } == order.compactMap { show.firstIndex(of: $0) }.sorted()
            )
            #expect(order.allSatisfy { type in show.count { $0 == type } == 1 })
            #expect(all.count { $0.room == "other" && $0.type == "room.created" } == 1)
        }
    }

    private func types(_ webhooks: WebhookDispatcher, _ id: String) async throws -> [String] {
        try await webhooks.deliveries(of: id, limit: 100).map(\.type.rawValue)
    }
}

@Suite("Viewer thresholds")
struct ThresholdMonitorTests {
    @Test("reports each threshold once per broadcast, and none that was reached before the start")
    func reached() {
        var monitor = ThresholdMonitor([100, 10, 1000])
        #expect(monitor.update(room: "a", beganAt: 1, peak: 9) == [])
        #expect(monitor.update(room: "a", beganAt: 1, peak: 10) == [10])
        #expect(monitor.update(room: "a", beganAt: 1, peak: 10) == [])
        #expect(monitor.update(room: "a", beganAt: 1, peak: 5000) == [100, 1000])
        #expect(monitor.update(room: "a", beganAt: 2, peak: 12) == [10])
        #expect(monitor.update(room: "b", beganAt: 1, peak: 150, isKnown: true) == [])
        #expect(monitor.update(room: "b", beganAt: 1, peak: 1000) == [1000])
        monitor.removeRooms(except: ["b"])
        #expect(monitor.update(room: "a", beganAt: 2, peak: 12) == [10])
        #expect(monitor.update(room: "b", beganAt: 1, peak: 1001) == [])
    }
}
