import FootlightTesting
import Stage
import Testing

@Suite("Room directory")
struct RoomDirectoryTests {
    private let clock = ManualClock()
    private let directory: RoomDirectory

    init() {
        directory = RoomDirectory(
            settings: StageSettings(maximumRooms: 3, maximumEndedRooms: 2),
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

    @Test("only a host receives keys in clear, once")
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

    @Test("a stream key authorizes its host only while it is a host")
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
        // A host with an encoder alone is never removed; a viewer would be.
        _ = try directory.join(room: "used", JoinRequest(identity: "ann", mode: .sendAndReceive))
        clock.advance(by: .seconds(59))
        #expect(directory.sweep())
        #expect(directory.rooms().allSatisfy { $0.status == .inProgress })
        clock.advance(by: .seconds(1))
        try directory.leave(room: "used", participant: "ann", reason: .left)
        // Without participants one sweep a second is enough.
        #expect(!directory.sweep())
        #expect(try directory.room("unused").status == .completed)
        #expect(try directory.room("used").status == .inProgress)
        clock.advance(by: .seconds(10))
        directory.sweep()
        #expect(try directory.room("used").status == .completed)
        #expect(try directory.room("used").endedAt == 1_070)
    }
}

@Suite("RoomDirectory layouts")
struct RoomDirectoryLayoutTests {
    private let directory = RoomDirectory(pepper: [1, 2, 3])

    private func makeShow() throws {
        _ = try directory.create(RoomSettings(name: "show"))
        for identity in ["a", "b", "c"] {
            _ = try directory.join(room: "show", JoinRequest(identity: identity, mode: .sendAndReceive))
        }
    }

    @Test("a partial change keeps other settings, and a throwing one keeps all")
    func change() throws {
        try makeShow()
        try directory.setLayout(room: "show", LayoutSettings(kind: .sidebar, theme: .dark))
        let changed = try directory.setLayout(room: "show") { $0.gridSize = 2 }
        #expect(changed.settings == LayoutSettings(kind: .sidebar, gridSize: 2, theme: .dark))
        #expect(changed.tiles.count == 2)
        #expect(try directory.layout(room: "show") == changed)
        #expect(try directory.room("show").settings.layout == changed.settings)
        let error = #expect(throws: StageError.self) {
            try directory.setLayout(room: "show") { settings throws(StageError) in
                settings.gridSize = 3
                throw .invalidParameter("type", "must be one of GRID, SPOTLIGHT, SIDEBAR")
            }
        }
        #expect(error?.code == 3073)
        #expect(try directory.layout(room: "show") == changed)
        #expect(#expect(throws: StageError.self) { try directory.setLayout(room: "none", .init()) }?.code == 53106)
    }

    @Test("a preview of the room's or other hosts changes nothing")
    func preview() throws {
        try makeShow()
        let before = try directory.room("show")
        let sidebar = LayoutSettings(kind: .sidebar)
        let own = try directory.previewLayout(room: "show", settings: sidebar)
        #expect(own.tiles.map(\.label) == ["a", "b", "c"])
        #expect(own.tiles.map(\.rectangle) == SidebarLayout.rectangles(count: 3, width: 1280, height: 720))
        let described = [
            LayoutHost(sid: "x", label: "X", hasCamera: true),
            LayoutHost(sid: "y", label: "Y", hasCamera: true, hasScreen: true),
        ]
        let other = try directory.previewLayout(room: "show", hosts: described)
        #expect(other.tiles.map(\.participantSID) == ["y", "x"])
        #expect(other.tiles.map(\.source) == [.screen, .camera])
        #expect(try directory.room("show") == before)
        #expect(try directory.setLayout(room: "show", sidebar) == own)
    }

    @Test("3073 a preview of too many hosts, of the same host twice or of a wrong grid is refused")
    func refusedPreview() throws {
        try makeShow()
        let many = (0...50).map { LayoutHost(sid: "\($0)", label: "") }
        let twice = [LayoutHost(sid: "x", label: "X"), LayoutHost(sid: "x", label: "Y")]
        for hosts in [many, twice] {
            let error = #expect(throws: StageError.self) { try directory.previewLayout(room: "show", hosts: hosts) }
            #expect(error?.code == 3073 && error?.message.hasPrefix("hosts ") ?? false)
        }
        let error = #expect(throws: StageError.self) {
            try directory.previewLayout(room: "show", settings: LayoutSettings(gridSize: 0))
        }
        #expect(error?.code == 3073 && error?.message.hasPrefix("grid_size ") ?? false)
    }
}
