import Testing

@testable import Stage

@Suite("A room")
struct RoomTests {
    private func makeRoom(_ settings: RoomSettings = RoomSettings(name: "show")) -> Room {
        var room = Room(settings: settings, replayedEvents: 16, at: 100)
        _ = room.takeEvents()
        return room
    }

    @discardableResult
    private func join(
        _ room: inout Room,
        _ identity: String,
        _ mode: ParticipantMode = .sendAndReceive,
        at now: Double = 101
    ) throws -> Participant {
        try room.join(JoinRequest(identity: identity, mode: mode), at: now)
    }

    private func onAir(_ room: Room) -> [String] {
        room.layout.tiles.map(\.label)
    }

    @Test("A host has a tile at once, a placeholder until its pictures come")
    func hostHasTile() throws {
        var room = makeRoom()
        let host = try join(&room, "ann")
        let tile = try #require(room.layout.tiles.first)
        #expect(tile.participantSID == host.sid)
        #expect(tile.source == .placeholder)
        #expect(tile.scaleMode == .fill)
        #expect(tile.label == "ann")
        #expect(!tile.isMicOn)
        #expect(tile.rectangle == TileRectangle(x: 0, y: 0, width: 1280, height: 720))
        #expect(room.takeEvents().map(\.name) == [.participantJoined, .layoutChanged])
    }

    @Test("V2 audience and signalling-only participants have no tile and change no layout")
    func audienceHasNoTile() throws {
        var room = makeRoom()
        try join(&room, "ann", .receiveOnly)
        try join(&room, "ben", .signallingOnly)
        #expect(room.layout.tiles.isEmpty)
        #expect(room.counts == RoomCounts(hosts: 0, receiveOnly: 1, signallingOnly: 1))
        #expect(room.takeEvents().map(\.name) == [.participantJoined, .participantJoined])
        #expect(room.participants.allSatisfy { $0.status == .connecting })
    }

    @Test("Q1 the thirteenth host waits, and takes the place that becomes free")
    func thirteenthHostWaits() throws {
        var room = makeRoom(RoomSettings(name: "show", maximumHosts: 14))
        for number in 1...14 { try join(&room, "h\(number)") }
        #expect(room.counts.hosts == 14)
        #expect(onAir(room) == (1...12).map { "h\($0)" })
        #expect(room.view.hosts.count { $0.position == nil } == 2)
        #expect(room.view.participant("h13")?.position == nil)

        _ = try room.leave("h3", reason: .left, at: 102)
        #expect(onAir(room) == ["h1", "h2", "h13", "h4", "h5", "h6", "h7", "h8", "h9", "h10", "h11", "h12"])
        #expect(room.view.participant("h13")?.position == 2)
    }

    @Test("When a host leaves, only the last one moves, into the gap")
    func leavingClosesUp() throws {
        var room = makeRoom()
        for number in 1...5 { try join(&room, "h\(number)") }
        _ = try room.leave("h2", reason: .left, at: 102)
        #expect(onAir(room) == ["h1", "h5", "h3", "h4"])
    }

    @Test("T17 the newer of two with one identity wins, in place, and the count stays")
    func duplicateIdentity() throws {
        var room = makeRoom()
        for number in 1...3 { try join(&room, "h\(number)") }
        let old = try #require(room.view.participant("h2"))
        _ = room.takeEvents()

        let new = try join(&room, "h2", at: 105)
        #expect(new.sid != old.sid)
        #expect(new.sessionID != old.sid)
        #expect(room.counts.hosts == 3)
        #expect(onAir(room) == ["h1", "h2", "h3"])
        #expect(room.layout.tiles[1].participantSID == new.sid)

        let events = room.takeEvents()
        #expect(events.map(\.name) == [.participantLeft, .participantJoined, .layoutChanged])
        guard case .participantLeft(let gone, .duplicateIdentity) = events[0].payload else {
            Issue.record("left for another reason: \(events[0].payload)")
            return
        }
        #expect(gone.sid == old.sid)
        #expect(gone.status == .disconnected)
    }

    @Test("A duplicate identity may join a full room and a full stage, for it takes its own place")
    func duplicateIdentityAtTheLimit() throws {
        var room = makeRoom(RoomSettings(name: "show", maximumParticipants: 1, maximumHosts: 1))
        try join(&room, "ann")
        try join(&room, "ann")
        #expect(room.counts.participants == 1)
        let full = #expect(throws: StageError.self) { try join(&room, "ben", .receiveOnly) }
        #expect(full?.code == 53105)
    }

    @Test("4010 one host more than allowed is refused, and nothing changes")
    func tooManyHosts() throws {
        var room = makeRoom(RoomSettings(name: "show", maximumHosts: 2))
        try join(&room, "h1")
        try join(&room, "h2")
        let before = room.view
        let error = #expect(throws: StageError.self) { try join(&room, "h3") }
        #expect(error?.code == 4010)
        #expect(room.view == before)
        try join(&room, "a1", .receiveOnly)
        #expect(room.counts == RoomCounts(hosts: 2, receiveOnly: 1))
    }

    @Test("Identities follow the rule of names, and a blank display name is the identity")
    func names() throws {
        var room = makeRoom()
        for (identity, code) in [("", 53200), (String(repeating: "x", count: 65), 53201), ("a b", 53202)] {
            let error = #expect(throws: StageError.self) { try join(&room, identity) }
            #expect(error?.code == code)
        }
        _ = try room.join(JoinRequest(identity: "ann", displayName: "  ", mode: .sendAndReceive), at: 101)
        _ = try room.join(JoinRequest(identity: "ben", displayName: "Ben ☀️", mode: .sendAndReceive), at: 101)
        #expect(onAir(room) == ["ann", "Ben ☀️"])
    }

    @Test("A room that ended has nobody in it, and refuses with 53106 and 53118")
    func ending() throws {
        var room = makeRoom()
        try join(&room, "ann")
        _ = room.takeEvents()
        try room.end(at: 110)
        #expect(room.status == .completed)
        #expect(room.counts == RoomCounts())
        #expect(room.view.participants.isEmpty && room.layout.tiles.isEmpty)
        #expect(room.view.endedAt == 110)
        #expect(room.takeEvents().map(\.name) == [.roomEnded])
        #expect(#expect(throws: StageError.self) { try room.end(at: 111) }?.code == 53118)
        #expect(#expect(throws: StageError.self) { try join(&room, "ben") }?.code == 53106)
        #expect(#expect(throws: StageError.self) { try room.leave("ann", reason: .left, at: 111) }?.code == 53106)
    }

    @Test("A room is abandoned when it was empty or unused for its time")
    func abandoned() throws {
        var room = makeRoom(RoomSettings(name: "show", emptyTimeout: 10, unusedTimeout: 20))
        #expect(!room.isAbandoned(at: 119.9))
        #expect(room.isAbandoned(at: 120))
        try join(&room, "ann", .receiveOnly, at: 119)
        #expect(!room.isAbandoned(at: 1000))
        _ = try room.leave("ann", reason: .left, at: 1000)
        #expect(!room.isAbandoned(at: 1009.9))
        #expect(room.isAbandoned(at: 1010))
        try room.end(at: 1010)
        #expect(!room.isAbandoned(at: 2000))
    }
}
