import Assets
@testable import ControlAPI
import Egress
import FanOut
@testable import Gateway
import FootlightTesting
import FootlightModel
import Logging
import Media
import Mixer
@testable import MixerProcess
import NIOCore
import NIOPosix
import Persistence
@testable import Stage
import Synchronization
import TestSupport
import Testing
import Viewership

@Suite("Pipeline of a gateway")
struct PipelineTests {
    /// The rooms for which a mixer was started.
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
            ticketDatabase: folder.file("data/tickets.sqlite"),
            showDatabase: folder.file("data/shows.sqlite"),
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
        #expect(await pipeline.roomStore.close(within: 5))
        try await group.shutdownGracefully()
        if let failure { throw failure }
    }

    @Test("V11 audience counts from its first heartbeat, also while reconnecting, until it leaves or becomes a host")
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
            // The same identity from another device counts once.
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

    @Test("restores rooms with feed, playlist, viewers and keys, and starts mixers for those with hosts")
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
            #expect(await pipeline.roomStore.flush(within: 5))
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

    @Test("a recording and a playlist by command start a mixer without hosts; automatic recording does not")
    func demands() async throws {
        try await withPipeline(TemporaryFolder("pipeline")) { pipeline, mixers in
            var kept = RoomSettings(name: "kept")
            kept.isRecorded = true
            _ = try pipeline.stage.create(kept)
            for name in ["recorded", "listed", "empty"] { _ = try pipeline.stage.create(RoomSettings(name: name)) }
            let running = Task { try await pipeline.mixers.run() }
            let recordings: any RecordingControlling = pipeline.recordings
            try recordings.start(room: "recorded")
            try pipeline.playlists.start(room: "listed")
            // Ended and unknown rooms start no mixer.
            for name in ["over", "nowhere"] { pipeline.mixers.demandChanged(room: name, .viewers, isOn: true) }
            #expect(try await eventually { mixers.rooms.withLock { Set($0).isSuperset(of: ["recorded", "listed"]) } })
            try recordings.stop(room: "recorded")
            pipeline.mixers.demandChanged(room: "empty", .opening, isOn: true)
            #expect(try await eventually { mixers.rooms.withLock { $0.contains("empty") } })
            #expect(mixers.rooms.withLock { Set($0) } == ["recorded", "listed", "empty"])
            running.cancel()
            try await running.value
        }
    }

    @Test("viewers demand their room's program, and start that of a room with a starting slate")
    func viewerDemands() async throws {
        try await withPipeline(TemporaryFolder("pipeline")) { pipeline, _ in
            _ = try pipeline.stage.create(RoomSettings(name: "plain"))
            var early = RoomSettings(name: "early")
            early.layout.slates.startingSoon = .init(text: "Soon")
            _ = try pipeline.stage.create(early)
            #expect(pipeline.viewerDemands([]).isEmpty)
            let demands = Set(pipeline.viewerDemands(["plain", "early", "nowhere"]).map { "\($0.room) \($0.demand)" })
            #expect(demands == ["plain viewers", "early viewers", "early opening"])
        }
    }

    @Test("a program that was playable before a restart starts again for its viewers without hosts")
    func returning() async throws {
        let folder = try TemporaryFolder("pipeline")
        try await withPipeline(folder) { pipeline, _ in
            _ = try pipeline.stage.create(RoomSettings(name: "show"))
            _ = try pipeline.stage.create(RoomSettings(name: "quiet"))
            _ = try pipeline.stage.create(RoomSettings(name: "card"))
            _ = try pipeline.stage.join(room: "card", JoinRequest(identity: "ada", mode: .sendAndReceive))
            var early = RoomSettings(name: "early")
            early.layout.slates.startingSoon = .init(text: "Soon")
            _ = try pipeline.stage.create(early)
            let ben = try pipeline.stage.join(room: "show", JoinRequest(identity: "ben", mode: .sendAndReceive))
            let key = try #require(ben.credentials?.streamKey)
            let grant = try pipeline.stage.authorizePublish(streamKey: key).get()
            let media = PublishedMedia(hasVideo: true, hasAudio: true)
            pipeline.stage.publishBegan(grant, connection: 1)
            pipeline.stage.publishChanged(grant, connection: 1, media: media)
            let entry = MixerReport.Entry(participantSID: grant.participantSID, audioLevel: -30, subscribed: [.mic])
            try pipeline.stage.report(room: "show", MixerReport(entries: [entry]))
            try pipeline.stage.leave(room: "show", participant: "ben", reason: .left)
            #expect(try pipeline.stage.room("show").wasOnAir)
            #expect(!pipeline.hls.isResuming("show"))
            #expect(await pipeline.roomStore.flush(within: 5))
        }
        try await withPipeline(folder) { pipeline, _ in
            #expect(["show", "card", "early", "quiet"].map(pipeline.hls.isResuming) == [true, true, true, false])
            #expect(pipeline.viewerDemands([]).isEmpty)
            let demands = Set(pipeline.viewerDemands(["show", "quiet"]).map { "\($0.room) \($0.demand)" })
            #expect(demands == ["show viewers", "show opening", "quiet viewers"])
        }
    }

    @Test("the end of a room closes its feeds and its playlist")
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

    // MARK: Room events of a mixer

    /// The events that were not applied yet.
    private final class PendingEvents: Sendable {
        private let events = Mutex<[StageEvent]>([])

        func append(_ event: StageEvent) { events.withLock { $0.append(event) } }

        func drain() -> [StageEvent] {
            events.withLock { events in
                defer { events = [] }
                return events
            }
        }
    }

    /// Compares a room mirror that has applied all events with one made from a snapshot.
    private struct MirrorComparison {
        let stage: RoomDirectory
        let context: EventContext
        let pending = PendingEvents()
        let observation: StageObservation
        var followed = RoomMirror()

        init(_ pipeline: Pipeline) throws {
            let addresses = PlaybackAddresses(host: "host", httpPort: 1, rtmpPort: 2)
            let services = ControlServices(
                directory: pipeline.stage,
                tokens: pipeline.tokens,
                livestreams: pipeline.livestreams,
                viewership: pipeline.viewership,
                gate: pipeline.gate,
                shows: pipeline.shows,
                assets: pipeline.assets,
                addresses: { addresses },
                readiness: { Readiness() },
                metrics: { "" }
            )
            let routes = ControlRoutes(services)
            stage = pipeline.stage
            context = EventContext(answers: routes.webhookEvents.answers, addresses: addresses)
            observation = pipeline.stage.observe { [pending] in pending.append($0) }
            followed = try begun()
        }

        private func begun() throws -> RoomMirror {
            let view = try stage.room("show")
            var room = RoomMirror()
            let event = StageEvent(
                roomSID: view.sid,
                roomName: "show",
                revision: view.revision,
                payload: .snapshot(view),
                at: 0
            )
            room.apply(EventResource(event, context: context))
            return room
        }

        mutating func after(_ command: String, _ body: (RoomDirectory) throws -> Void) throws {
            try body(stage)
            for event in pending.drain() where event.onlyReaderSID == nil {
                followed.apply(EventResource(event, context: context))
            }
            let begun = try begun()
            #expect(followed.scene == begun.scene, "\(command)")
            #expect(followed.inputs == begun.inputs && followed.feeds == begun.feeds, "\(command)")
            #expect(followed.assets == begun.assets && followed.program == begun.program, "\(command)")
            for input in begun.inputs {
                #expect(followed.jitterTarget(of: input) == begun.jitterTarget(of: input), "\(command)")
            }
        }

        /// Publishes tracks and reports them as decoded.
        mutating func publish(_ key: String, connection: UInt64, _ tracks: Set<TrackName>) throws {
            let grant = try stage.authorizePublish(streamKey: key).get()
            let media = PublishedMedia(hasVideo: true, hasAudio: tracks.contains(.mic))
            try after("\(grant.identity) sends \(tracks)") { stage in
                stage.publishBegan(grant, connection: connection)
                stage.publishChanged(grant, connection: connection, media: media)
            }
            let entry = MixerReport.Entry(participantSID: grant.participantSID, audioLevel: -30, subscribed: tracks)
            try after("\(grant.identity) is decoded") { try $0.report(room: "show", MixerReport(entries: [entry])) }
        }
    }

    @Test("a room mirror that applied all events equals one made from a snapshot")
    func followed() async throws {
        try await withPipeline(TemporaryFolder("pipeline")) { pipeline, _ in
            _ = try pipeline.stage.create(RoomSettings(name: "show"))
            var room = try MirrorComparison(pipeline)
            var keys: [String] = []
            for name in ["ann", "ben"] {
                try room.after("\(name) joins") { stage in
                    let host = try stage.join(room: "show", JoinRequest(identity: name, mode: .sendAndReceive))
                    keys.append(try #require(host.credentials?.streamKey))
                }
            }
            #expect(room.followed.scene.slate == nil && room.followed.scene.tiles.count == 2)
            for (index, key) in keys.enumerated() {
                try room.publish(key, connection: UInt64(index + 1), [.mic, .camera])
            }
            #expect(room.followed.scene.audible.count == 2)
            for isEnabled in [false, true] {
                try room.after("ann's microphone \(isEnabled)") { stage in
                    _ = try stage.setTrack(room: "show", participant: "ann", name: .mic, isEnabled: isEnabled)
                }
            }
            try room.after("ben's camera off") { stage in
                try stage.unpublishTrack(room: "show", participant: "ben", name: .camera)
            }
            try room.after("ducking") { stage in try stage.setSound(room: "show") { $0.duck = .pinned } }
            for name in ["ben", "ann"] {
                try room.after("\(name) pinned") { stage in
                    _ = try stage.pin(room: "show", participant: name, type: .camera, by: .stage)
                }
            }
            #expect(room.followed.scene.audio.duckUnder.count == 2)
            try room.after("ben not pinned") { try $0.unpin(room: "show", participant: "ben", by: .stage) }
            #expect(room.followed.scene.audio.duckUnder.count == 1)
            try room.after("ben's audio settings") { stage in
                try stage.setSound(room: "show", participant: "ben") { sound in
                    (sound.gain, sound.wantsReturn, sound.jitterTarget) = (-6, true, 100)
                }
            }
            try room.publish(keys[0] + ".screen", connection: 3, [.screen])
            try room.after("another layout") { stage in
                try stage.setLayout(room: "show") { layout in
                    (layout.kind, layout.theme, layout.transition) = (.sidebar, .light, 0)
                }
            }
            try room.after("backstage") { _ = try $0.stopLive(room: "show") }
            #expect(room.followed.scene.slate?.kind == .beRightBack)
            try room.after("live") { _ = try $0.goLive(room: "show") }
            try room.after("ben steps down") { stage in
                _ = try stage.changeMode(room: "show", participant: "ben", to: .receiveOnly)
            }
            try room.after("ann leaves") { try $0.leave(room: "show", participant: "ann", reason: .left) }
            #expect(room.followed.scene.slate?.kind == .beRightBack)
        }
    }
}
