import TestSupport
import Testing

@testable import Stage

@Suite("A room")
struct RoomTests {
    private func makeRoom(_ settings: RoomSettings = RoomSettings(name: "show")) -> Room {
        var room = Room(settings: settings, replayedEvents: 16, at: 100)
        _ = room.drainEvents()
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

    @Test("a host has a tile at once, a placeholder until its video arrives")
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
        #expect(room.drainEvents().map(\.name) == [.participantJoined, .layoutChanged])
    }

    @Test("V2 audience and signalling-only participants have no tile and change no layout")
    func audienceHasNoTile() throws {
        var room = makeRoom()
        try join(&room, "ann", .receiveOnly)
        try join(&room, "ben", .signallingOnly)
        #expect(room.layout.tiles.isEmpty)
        #expect(room.counts == RoomCounts(hosts: 0, receiveOnly: 1, signallingOnly: 1))
        #expect(room.drainEvents().map(\.name) == [.participantJoined, .participantJoined])
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
        _ = room.drainEvents()

        let new = try join(&room, "h2", at: 105)
        #expect(new.sid != old.sid)
        #expect(new.sessionID != old.sid)
        #expect(room.counts.hosts == 3)
        #expect(onAir(room) == ["h1", "h2", "h3"])
        #expect(room.layout.tiles[1].participantSID == new.sid)

        let events = room.drainEvents()
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

    @Test("an ended room has no participants, and refuses with 53106 and 53118")
    func ending() throws {
        var room = makeRoom()
        try join(&room, "ann")
        _ = room.drainEvents()
        try room.end(at: 110)
        #expect(room.status == .completed)
        #expect(room.counts == RoomCounts())
        #expect(room.view.participants.isEmpty && room.layout.tiles.isEmpty)
        #expect(room.view.endedAt == 110)
        #expect(room.drainEvents().map(\.name) == [.roomEnded])
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

@Suite("Monotonic revisions")
struct RoomRevisionTests {
    private var run = StageFixture()

    @Test("a stored event occurs more often than the revision leap of a restart")
    mutating func storedInTime() throws {
        #expect(Room.revisionsUntilStored < Room.revisionLeap)
        var announced: [UInt64] = []
        for _ in 0..<120_000 {
            run.room.announceAudience(at: run.now)
            if run.room.revision % 1_000 < 2 {
                announced += run.events().filter { $0.name == .roomUpdated }.map(\.revision)
            }
        }
        #expect(announced == [50_001, 100_001])
    }

    @Test("first signalling causes an event, so that it is stored")
    mutating func firstSession() throws {
        try run.join("ann")
        try run.encode("ann")
        _ = run.events()
        #expect(run.room.record(keys: []).participants.map(\.hasSession) == [false])
        try run.heartbeat("ann")
        #expect(run.names() == [.participantUpdated])
        #expect(run.room.record(keys: []).participants.map(\.hasSession) == [true])
        try run.heartbeat("ann")
        #expect(run.events().isEmpty)
    }

    @Test("clamps a level that a client reports")
    mutating func level() throws {
        try run.join("ann")
        for (announced, reported) in [(5.0, 0.0), (-400, -127), (-31.5, -31.5), (.nan, -31.5)] {
            run.room.heartbeat(at: 0, audioLevel: announced, now: run.now)
            #expect(try run.view("ann").audioLevel == reported)
        }
    }
}

@Suite("Room counts", .enabled(if: TestRun.isFull))
struct RoomCountTests {
    @Test("V12 counts, tiles, gates and revisions stay consistent for any sequence")
    func neverDrift() throws {
        var generator = SeededGenerator(seed: 12)
        for _ in 0..<40 {
            var run = StageFixture(RoomSettings(name: "show", maximumParticipants: 25, maximumHosts: 15))
            var lastRevision = run.room.revision
            var known: [String: (mode: ParticipantMode, revision: UInt64)] = [:]
            for _ in 0..<200 {
                try step(&run, &generator)
                let room = run.room
                let hosts = room.participants.filter(\.isHost)
                #expect(room.counts == recount(room.participants))
                #expect(room.counts.participants <= 25 && room.counts.hosts <= 15)
                #expect(Set(room.participants.map(\.identity)).count == room.participants.count)
                #expect(room.layout.tiles.count == min(hosts.count, 12))
                #expect(Set(room.layout.tiles.map(\.participantSID)).isSubset(of: hosts.map(\.sid)))
                for (index, participant) in room.participants.enumerated() {
                    #expect(participant.isHost || participant.tracks.isEmpty)
                    #expect(participant.isHost || participant.gate.openTracks.isEmpty)
                    #expect(room.index(of: participant.sid) == index)
                    #expect(room.index(ofIdentity: participant.identity) == index)
                    #expect(participant.status != .disconnected)
                }
                for event in run.events() {
                    #expect(event.revision == lastRevision + 1)
                    lastRevision = event.revision
                    follow(event, &known)
                }
                // The events alone yield the same numbers.
                #expect(known.count == room.counts.participants)
                #expect(known.values.count { $0.mode == .receiveOnly } == room.counts.receiveOnly)
            }
            for participant in run.room.participants {
                _ = try run.room.leave(participant.sid, reason: .left, at: run.now)
            }
            #expect(run.room.counts == RoomCounts())
            #expect(run.room.layout.tiles.isEmpty)
        }
    }

    private func recount(_ participants: [Participant]) -> RoomCounts {
        RoomCounts(
            hosts: participants.count { $0.mode == .sendAndReceive },
            receiveOnly: participants.count { $0.mode == .receiveOnly },
            signallingOnly: participants.count { $0.mode == .signallingOnly }
        )
    }

    private func step(_ run: inout StageFixture, _ generator: inout SeededGenerator) throws {
        let identity = "p\(Int.random(in: 0..<30, using: &generator))"
        let mode = ParticipantMode.allCases.randomElement(using: &generator) ?? .receiveOnly
        let name = TrackName.allCases.randomElement(using: &generator) ?? .mic
        let connection = UInt64.random(in: 1...200, using: &generator)
        switch Int.random(in: 0..<14, using: &generator) {
        case 0, 1, 2: _ = try? run.join(identity, mode)
        case 3: _ = try? run.room.leave(identity, reason: .left, at: run.now)
        case 4: _ = try? run.room.changeMode(identity, to: mode, at: run.now)
        case 5: _ = try? run.encode(identity, .random(using: &generator) ? .camera : .screen)
        case 6: try? run.stopEncoder(identity, connection: connection, isLost: .random(using: &generator))
        case 7: try? run.send(identity, PublishedMedia(hasVideo: .random(using: &generator)), connection: connection)
        case 8: _ = try? run.room.publishTrack(name, of: identity, isEnabled: true, at: run.now)
        case 9: try? run.room.unpublishTrack(name, of: identity, at: run.now)
        case 10: try? run.mix(identity, [name])
        case 11, 12:
            guard let index = try? run.index(identity) else { return }
            if .random(using: &generator) { run.room.streamOpened(at: index, now: run.now) }
            run.room.heartbeat(at: index, now: run.now)
            if .random(using: &generator) { run.room.streamClosed(sid: identity, at: run.now) }
        default: run.wait(Double.random(in: 0...20, using: &generator))
        }
    }

    private func follow(_ event: StageEvent, _ known: inout [String: (mode: ParticipantMode, revision: UInt64)]) {
        func record(_ view: ParticipantView) {
            if let before = known[view.sid]?.revision { #expect(view.revision >= before) }
            known[view.sid] = (view.mode, view.revision)
        }
        switch event.payload {
        case .participantJoined(let view):
            #expect(known[view.sid]?.revision == nil)
            record(view)
        case .participantLeft(let view, _):
            let gone = known.removeValue(forKey: view.sid)
            #expect(gone?.revision != nil)
        case .participantUpdated(let view), .participantModeChanged(let view, _), .participantReconnected(let view),
            .participantReconnecting(let view, _), .trackPublished(_, let view), .trackUnpublished(_, let view, _):
            #expect(known[view.sid]?.revision != nil)
            record(view)
        default:
            break
        }
    }
}
