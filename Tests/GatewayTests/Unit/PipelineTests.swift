import Assets
import ControlAPI
import Egress
import FanOut
import FootlightTesting
@testable import Gateway
import Logging
import NIOCore
import NIOPosix
import RoomStore
import Stage
import Synchronization
import Testing
import Viewership

@Suite("The parts of a gateway, wired")
struct PipelineTests {
    /// The rooms for which a mixer was asked for.
    private final class Mixers: Sendable {
        let rooms = Mutex<[String]>([])
    }

    private struct NoMixer: Error {}

    private func withPipeline(
        _ folder: TemporaryFolder,
        _ body: (Pipeline, Mixers) async throws -> Void
    ) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let secrets = try GatewaySecrets(DataDirectory(folder.file("data")))
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let mixers = Mixers()
        let pipeline = Pipeline(
            configuration: GatewayConfiguration(),
            group: group,
            secrets: secrets,
            tokens: await AccessTokens(signingKey: secrets.signingKey, kid: secrets.signingKeyName),
            database: folder.file("data/rooms.sqlite"),
            viewershipDatabase: folder.file("data/viewership.sqlite"),
            assets: AssetStore(path: folder.file("data/assets")),
            launchMixer: { room, _, _ in
                mixers.rooms.withLock { $0.append(room) }
                throw NoMixer()
            },
            logger: logger
        )
        var failure: (any Error)?
        do { try await body(pipeline, mixers) } catch { failure = error }
        pipeline.livestreams.shutdown()
        #expect(await pipeline.keeper.close(within: 5))
        try await group.shutdownGracefully()
        if let failure { throw failure }
    }

    @Test("V11 Viewers count from their first sign of life, also while they are lost, until they leave or go on stage")
    func audience() async throws {
        try await withPipeline(TemporaryFolder("pipeline")) { pipeline, _ in
            let stage = pipeline.stage
            _ = try stage.create(RoomSettings(name: "show"))
            func count() -> Int { pipeline.viewership.report(room: "show").concurrent }
            let ada = try stage.join(room: "show", JoinRequest(identity: "ada", mode: .receiveOnly))
            _ = try stage.join(room: "show", JoinRequest(identity: "ben", mode: .sendAndReceive))
            _ = try stage.join(room: "show", JoinRequest(identity: "cleo", mode: .signallingOnly))
            #expect(count() == 0)
            try stage.heartbeat(room: "show", participant: ada.participant.sid, sessionID: ada.sessionID)
            #expect(count() == 1)
            // The same person from another device: still one.
            let again = try stage.join(room: "show", JoinRequest(identity: "ada", mode: .receiveOnly))
            #expect(count() == 1)
            try stage.heartbeat(room: "show", participant: again.participant.sid, sessionID: again.sessionID)
            #expect(count() == 1)
            _ = try stage.changeMode(room: "show", participant: "ada", to: .sendAndReceive)
            #expect(count() == 0)
            _ = try stage.changeMode(room: "show", participant: "ada", to: .receiveOnly)
            try stage.heartbeat(room: "show", participant: again.participant.sid, sessionID: again.sessionID)
            #expect(count() == 1)
            try stage.leave(room: "show", participant: "ada", reason: .left)
            #expect(count() == 0)
        }
    }

    @Test("Rooms are found again after a restart: feed, playlist, viewers, keys, and a mixer for those with hosts")
    func restart() async throws {
        let folder = try TemporaryFolder("pipeline")
        var key = ""
        try await withPipeline(folder) { pipeline, _ in
            _ = try pipeline.stage.create(RoomSettings(name: "show"))
            _ = try pipeline.stage.create(RoomSettings(name: "empty"))
            _ = try pipeline.stage.create(RoomSettings(name: "over"))
            let host = try pipeline.stage.join(room: "show", JoinRequest(identity: "ben", mode: .sendAndReceive))
            key = try #require(host.credentials?.streamKey)
            let ada = try pipeline.stage.join(room: "show", JoinRequest(identity: "ada", mode: .receiveOnly))
            try pipeline.stage.heartbeat(room: "show", participant: "ada", sessionID: ada.sessionID)
            try pipeline.stage.end(room: "over")
            #expect(await pipeline.keeper.flush(within: 5))
        }
        try await withPipeline(folder) { pipeline, mixers in
            #expect(pipeline.stage.rooms(.inProgress).map(\.name).sorted() == ["empty", "show"])
            #expect(pipeline.feeds.feed("show") != nil)
            #expect(pipeline.feeds.feed("over") == nil)
            #expect(pipeline.hls.program("show") != nil)
            #expect(pipeline.viewership.report(room: "show").concurrent == 1)
            let grant = try pipeline.stage.authorizePublish(streamKey: key).get()
            #expect(grant.identity == "ben")
            let running = Task { try await pipeline.mixers.run() }
            #expect(try await eventually { mixers.rooms.withLock { $0.contains("show") } })
            #expect(mixers.rooms.withLock { !$0.contains("empty") })
            running.cancel()
            try await running.value
        }
    }

    @Test("The end of a room closes its feeds and its playlist, and its figures are final")
    func ends() async throws {
        try await withPipeline(TemporaryFolder("pipeline")) { pipeline, _ in
            _ = try pipeline.stage.create(RoomSettings(name: "show"))
            #expect(pipeline.feeds.feed("show") != nil)
            try pipeline.stage.end(room: "show")
            #expect(pipeline.feeds.feed("show") == nil)
            #expect(pipeline.playlists.status(room: "show").state == .stopped)
            #expect(throws: StageError.roomNotFound) { try pipeline.playlists.start(room: "show") }
        }
    }
}
