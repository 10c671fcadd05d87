import FootlightTesting
import Stage
import Testing

@Suite("Room directory")
struct RoomDirectoryTests {
    private let clock = ManualClock()
    private let directory: RoomDirectory

    init() {
        directory = RoomDirectory(
            settings: StageSettings(maximumRooms: 3, keptEndedRooms: 2),
            clock: clock,
            pepper: [1, 2, 3],
            startedAt: 1_000
        )
    }

    private func code(_ body: () throws -> Void) -> Int? {
        do {
            try body()
            return nil
        } catch {
            return (error as? StageError)?.code
        }
    }

    @Test("A room is found by name and by sid, with dates of the injected clock")
    func find() throws {
        clock.advance(by: .seconds(5))
        let made = try directory.create(RoomSettings(name: "show"))
        #expect(made.sid.wholeMatch(of: /RM[0-9a-f]{32}/) != nil)
        #expect(made.createdAt == 1_005)
        #expect(made.status == .inProgress)
        #expect(try directory.room("show") == made)
        #expect(try directory.room(made.sid) == made)
        #expect(code { _ = try directory.room("other") } == 53106)
    }

    @Test("53113 a name is taken while its room is in progress, and free again afterwards")
    func names() throws {
        let first = try directory.create(RoomSettings(name: "show"))
        #expect(code { _ = try directory.create(RoomSettings(name: "show")) } == 53113)
        try directory.end(room: "show")
        #expect(code { try directory.end(room: "show") } == 53118)
        clock.advance(by: .seconds(1))
        let second = try directory.create(RoomSettings(name: "show"))
        #expect(second.sid != first.sid)
        #expect(try directory.room("show").sid == second.sid)
        #expect(try directory.room(first.sid).status == .completed)
        #expect(code { try directory.end(room: first.sid) } == 53118)
        #expect(directory.rooms().map(\.sid) == [first.sid, second.sid])
    }

    @Test("53006 more rooms than the limit, and anything new while draining, is refused")
    func limits() throws {
        for name in ["a", "b", "c"] { _ = try directory.create(RoomSettings(name: name)) }
        let busy = #expect(throws: StageError.self) { try directory.create(RoomSettings(name: "d")) }
        #expect(busy?.code == 53006 && busy?.status == 503 && busy?.isRetryable == true && busy?.retryAfter != nil)
        try directory.end(room: "a")
        directory.drain()
        #expect(code { _ = try directory.create(RoomSettings(name: "d")) } == 53006)
        #expect(code { _ = try directory.join(room: "b", JoinRequest(identity: "x", mode: .receiveOnly)) } == 53006)
        #expect(try directory.room("b").status == .inProgress)
    }

    @Test("Ended rooms are remembered up to the limit, the oldest forgotten first")
    func forgetting() throws {
        for name in ["a", "b", "c"] {
            _ = try directory.create(RoomSettings(name: name))
            clock.advance(by: .seconds(1))
            try directory.end(room: name)
        }
        #expect(code { _ = try directory.room("a") } == 53106)
        #expect(directory.rooms().map(\.name) == ["b", "c"])
    }

    @Test("A host gets keys in clear once, nobody else gets any")
    func credentials() throws {
        _ = try directory.create(RoomSettings(name: "show"))
        let host = try directory.join(room: "show", JoinRequest(identity: "ann", mode: .sendAndReceive))
        let keys = try #require(host.credentials)
        #expect(keys.screenStreamKey == keys.streamKey + ".screen")
        #expect(host.participant.position == 0)
        #expect(host.room.counts.hosts == 1)
        #expect(host.room.tiles.count == 1)
        for mode in [ParticipantMode.receiveOnly, .signallingOnly] {
            let other = try directory.join(room: "show", JoinRequest(identity: mode.rawValue, mode: mode))
            #expect(other.credentials == nil)
        }
        #expect(!"\(try directory.room("show"))".contains(keys.streamKey))
    }

    @Test("A stream key opens the stage for its host, and only as long as the host is one")
    func authorize() throws {
        let room = try directory.create(RoomSettings(name: "show"))
        let host = try directory.join(room: "show", JoinRequest(identity: "ann", mode: .sendAndReceive))
        let keys = try #require(host.credentials)
        let grant = try directory.authorizePublish(streamKey: keys.streamKey).get()
        #expect(grant.room == "show" && grant.roomSID == room.sid && grant.identity == "ann")
        #expect(grant.participantSID == host.participant.sid && grant.source == .camera)
        #expect(try directory.authorizePublish(streamKey: keys.screenStreamKey).get().source == .screen)

        for wrong in ["", "show", "sk_", keys.streamKey + "x", String(keys.streamKey.dropLast()), ".screen"] {
            #expect(directory.authorizePublish(streamKey: wrong) == .failure(.unknownKey))
        }
        _ = try directory.changeMode(room: "show", participant: "ann", to: .receiveOnly)
        #expect(directory.authorizePublish(streamKey: keys.streamKey) == .failure(.wrongMode))
        #expect(directory.publishBegan(grant, connection: 1) == .refused(.wrongMode))

        let again = try directory.changeMode(room: "show", participant: "ann", to: .sendAndReceive)
        let fresh = try #require(again.credentials)
        #expect(directory.authorizePublish(streamKey: keys.streamKey) == .failure(.unknownKey))
        #expect(try directory.authorizePublish(streamKey: fresh.streamKey).get().identity == "ann")

        try directory.end(room: "show")
        #expect(directory.authorizePublish(streamKey: fresh.streamKey) == .failure(.roomEnded))
        #expect(directory.publishBegan(grant, connection: 2) == .refused(.roomEnded))
    }

    @Test("The keys of a host that left, or was replaced, are unknown")
    func revoked() throws {
        _ = try directory.create(RoomSettings(name: "show"))
        let ann = try directory.join(room: "show", JoinRequest(identity: "ann", mode: .sendAndReceive)).credentials
        try directory.leave(room: "show", participant: "ann", reason: .left)
        #expect(directory.authorizePublish(streamKey: try #require(ann).streamKey) == .failure(.unknownKey))

        let old = try directory.join(room: "show", JoinRequest(identity: "ben", mode: .sendAndReceive)).credentials
        let new = try directory.join(room: "show", JoinRequest(identity: "ben", mode: .sendAndReceive)).credentials
        #expect(directory.authorizePublish(streamKey: try #require(old).streamKey) == .failure(.unknownKey))
        #expect(try directory.authorizePublish(streamKey: #require(new).streamKey).get().identity == "ben")
        #expect(code { try directory.leave(room: "show", participant: "zoe", reason: .left) } == 53204)
    }

    @Test("Of two publishers with one key the newer wins, and the end of the older changes nothing")
    func secondPublisher() throws {
        _ = try directory.create(RoomSettings(name: "show"))
        let joined = try directory.join(room: "show", JoinRequest(identity: "ann", mode: .sendAndReceive))
        let key = try #require(joined.credentials).streamKey
        let grant = try directory.authorizePublish(streamKey: key).get()
        #expect(directory.publishBegan(grant, connection: 1) == .accepted(replacing: nil))
        directory.publishChanged(grant, connection: 1, media: PublishedMedia(hasVideo: true, hasAudio: true))
        #expect(directory.publishBegan(grant, connection: 2) == .accepted(replacing: 1))
        directory.publishChanged(grant, connection: 2, media: PublishedMedia(hasVideo: true, hasAudio: true))
        let entry = MixerReport.Entry(
            participantSID: grant.participantSID,
            audioLevel: -20,
            subscribed: [.mic, .camera]
        )
        try directory.report(room: "show", MixerReport(entries: [entry]))
        directory.publishEnded(grant, connection: 1)
        #expect(try directory.layout(room: "show").tiles.first?.source == .camera)
        directory.publishEnded(grant, connection: 2)
        #expect(try directory.layout(room: "show").tiles.first?.source == .placeholder)
        #expect(try directory.room("show").counts.hosts == 1)
    }

    @Test("Sweeping ends the rooms that were empty or unused for their time")
    func sweep() throws {
        _ = try directory.create(RoomSettings(name: "unused", unusedTimeout: 60))
        _ = try directory.create(RoomSettings(name: "used", emptyTimeout: 10))
        // An encoder that never comes is waited for; a viewer would be let go.
        _ = try directory.join(room: "used", JoinRequest(identity: "ann", mode: .sendAndReceive))
        clock.advance(by: .seconds(59))
        #expect(directory.sweep())
        #expect(directory.rooms().allSatisfy { $0.status == .inProgress })
        clock.advance(by: .seconds(1))
        try directory.leave(room: "used", participant: "ann", reason: .left)
        // Nobody is left for whom a quarter of a second would matter.
        #expect(!directory.sweep())
        #expect(try directory.room("unused").status == .completed)
        #expect(try directory.room("used").status == .inProgress)
        clock.advance(by: .seconds(10))
        directory.sweep()
        #expect(try directory.room("used").status == .completed)
        #expect(try directory.room("used").endedAt == 1_070)
    }
}
