import FootlightTesting
import Foundation
import Stage
import Synchronization
import Testing

@Suite("Room lifecycle")
struct RoomLifecycleTests {
    private let clock = ManualClock()

    private func directory(_ settings: StageSettings = StageSettings(), at start: Double = 1_000) -> RoomDirectory {
        RoomDirectory(settings: settings, clock: clock, pepper: [1, 2], startedAt: start)
    }

    private func code(_ body: () throws -> Void) -> Int? {
        do {
            try body()
            return nil
        } catch {
            return (error as? StageError)?.code
        }
    }

    @Test("going live and back is published once each, and a room without backstage starts live")
    func backstage() async throws {
        let directory = directory()
        #expect(try directory.create(RoomSettings(name: "open")).isBackstage == false)
        #expect(try directory.create(RoomSettings(name: "show", backstage: true)).isBackstage)
        let events = try directory.subscribe(room: "show", after: nil)
        #expect(try directory.goLive(room: "show").isBackstage == false)
        #expect(try directory.goLive(room: "show").isBackstage == false)
        #expect(try directory.stopLive(room: "show").isBackstage)
        try directory.end(room: "show")
        #expect(code { _ = try directory.goLive(room: "show") } == 53106)
        let names = await events.events.reduce(into: []) { $0.append($1.name) }
        #expect(names == [.roomSnapshot, .roomUpdated, .roomUpdated, .roomEnded])
    }

    @Test("53106 a join creates a missing room only if enabled")
    func adHoc() throws {
        let request = JoinRequest(identity: "ann", mode: .sendAndReceive)
        #expect(code { _ = try directory().join(room: "show", request) } == 53106)
        let open = directory(StageSettings(maximumRooms: 1, createsRoomsOnJoin: true))
        let first = try open.join(room: "show", request)
        #expect(first.room.name == "show" && first.room.settings == RoomSettings(name: "show"))
        #expect(first.credentials != nil)
        #expect(
            try open.join(room: "show", JoinRequest(identity: "ben", mode: .receiveOnly)).room.sid == first.room.sid
        )
        #expect(code { _ = try open.join(room: "other", request) } == 53006)
        try open.end(room: "show")
        #expect(code { _ = try open.join(room: first.room.sid, request) } == 53106, "a sid is no name")
        #expect(code { _ = try open.join(room: "no good", request) } == 53102)
        #expect(code { _ = try open.join(room: "show", JoinRequest(identity: "", mode: .receiveOnly)) } == 53200)
        #expect(open.rooms(.inProgress).isEmpty)
        #expect(try open.join(room: "show", request).room.sid != first.room.sid)
        #expect(open.rooms(.inProgress).count == 1 && open.rooms(.completed).count == 1 && open.rooms().count == 2)
    }

    @Test("after a restart rooms and keys are valid, and participants have 30 s to return")
    func restart() async throws {
        let before = directory()
        _ = try before.create(RoomSettings(name: "show", layout: .init(kind: .sidebar, gridSize: 4)))
        _ = try before.create(RoomSettings(name: "over"))
        try before.end(room: "over")
        let ann = try before.join(
            room: "show",
            JoinRequest(identity: "ann", mode: .sendAndReceive, metadata: "{\"a\":1}")
        )
        let ben = try before.join(room: "show", JoinRequest(identity: "ben", mode: .sendAndReceive))
        let eve = try before.join(room: "show", JoinRequest(identity: "eve", mode: .receiveOnly))
        _ = try before.join(room: "show", JoinRequest(identity: "sam", mode: .receiveOnly))
        try before.heartbeat(room: "show", participant: "eve", sessionID: eve.sessionID)
        _ = try before.publishTrack(room: "show", participant: "ann", name: .mic, isEnabled: false)
        try before.unpublishTrack(room: "show", participant: "ann", name: .camera)
        let old = try before.room("show")
        let records = before.rooms().compactMap { before.record(of: $0.sid) }
        #expect(records.count == 2)

        let after = directory(at: 2_000)
        let created = CreatedRoomLog()
        let observation = after.observe { created.add($0) }
        after.restore(records)
        observation.cancel()
        let room = try after.room("show")
        #expect(created.rooms.map(\.sid) == [room.sid], "the one that has ended is only remembered")
        #expect(created.rooms.first?.participants.count == 4)
        #expect(room.sid == old.sid && room.createdAt == old.createdAt && room.settings == old.settings)
        #expect(room.revision > old.revision, "the revision exceeds all earlier ones")
        #expect(room.counts == old.counts && room.tiles.map(\.label) == old.tiles.map(\.label))
        #expect(room.participants.map(\.sid) == old.participants.map(\.sid))
        #expect(room.participants.allSatisfy { $0.status == .reconnecting })
        #expect(room.participants.first?.metadata == "{\"a\":1}")
        #expect(try after.room("over").status == .completed)

        // Keys are valid, and track preferences are restored.
        let grant = try after.authorizePublish(streamKey: #require(ann.credentials).streamKey).get()
        #expect(grant.gate.openTracks == [.screen])
        #expect(after.publishBegan(grant, connection: 1) == .accepted(replacing: nil))
        after.publishChanged(grant, connection: 1, media: PublishedMedia(hasVideo: true, hasAudio: true))
        let host = try after.participant("ann", in: "show")
        #expect(host.status == .connected && host.tracks.map(\.name) == [.mic] && host.tracks.first?.isEnabled == false)

        let back = try after.reconnect(room: "show", participant: "eve", sessionID: eve.sessionID)
        #expect(back.participant.status == .connected)
        for _ in 0..<8 {
            clock.advance(by: .seconds(4))
            try after.heartbeat(room: "show", participant: "eve", sessionID: eve.sessionID)
            after.sweep()
        }
        #expect(try after.room("show").participants.map(\.identity) == ["ann", "ben", "eve"])
        #expect(try after.participant("ben", in: "show").status == .reconnecting, "an encoder has all the time")
        #expect(try after.authorizePublish(streamKey: #require(ben.credentials).streamKey).get().identity == "ben")
    }

    @Test("a program lingers after its room's end until the timeout or a new room of that name")
    func linger() throws {
        let directory = directory()
        let log = RoomStatusLog()
        let observation = directory.observe { log.add($0) }
        for (name, linger) in [("plain", nil), ("short", 2), ("taken", 60)] as [(String, Int?)] {
            _ = try directory.create(RoomSettings(name: name, linger: linger))
            try directory.end(room: name)
        }
        log.clear()
        clock.advance(by: .milliseconds(1900))
        directory.sweep()
        #expect(log.all.isEmpty)
        clock.advance(by: .milliseconds(100))
        directory.sweep()
        #expect(log.all == ["short: room.updated completed"])
        log.clear()
        _ = try directory.create(RoomSettings(name: "taken"))
        #expect(log.all == ["taken: room.updated completed", "taken: room.created in-progress"])
        log.clear()
        clock.advance(by: .seconds(60))
        directory.sweep()
        #expect(log.all.isEmpty, "the end is published once")
        observation.cancel()
    }

    @Test("a custom end slate lingers for ten seconds unless configured otherwise")
    func slateForTheEnd() throws {
        let directory = directory()
        let log = RoomStatusLog()
        let observation = directory.observe { log.add($0) }
        var layout = LayoutSettings()
        layout.slates.ended = LayoutSettings.Slate(text: "Bye")
        for (name, linger, time) in [("kept", nil, 10), ("cut", 0, 0)] as [(String, Int?, Int)] {
            let settings = RoomSettings(name: name, layout: layout, linger: linger)
            #expect(settings.lingerTime(afterShow: false) == time && settings.lingerTime(afterShow: true) == time)
            _ = try directory.create(settings)
            try directory.end(room: name)
        }
        #expect(RoomSettings(name: "plain").lingerTime(afterShow: false) == 0)
        log.clear()
        clock.advance(by: .milliseconds(9900))
        directory.sweep()
        #expect(log.all.isEmpty)
        clock.advance(by: .milliseconds(100))
        directory.sweep()
        #expect(log.all == ["kept: room.updated completed"])
        observation.cancel()
    }

    @Test("a show lingers for ten seconds, a room without a show ends at once")
    func endOfShow() throws {
        let directory = directory()
        let log = RoomStatusLog()
        let observation = directory.observe { log.add($0) }
        let rooms: [(name: String, backstage: Bool, isSeen: Bool, linger: Int?, time: Int)] = [
            ("shown", false, true, nil, 10), ("cut", false, true, 0, 0), ("empty", false, false, nil, 0),
            ("rehearsed", true, true, nil, 0), ("long", false, true, 12, 12),
        ]
        for room in rooms {
            let settings = RoomSettings(name: room.name, backstage: room.backstage, linger: room.linger)
            _ = try directory.create(settings)
            let ann = try directory.join(room: room.name, JoinRequest(identity: "ann", mode: .sendAndReceive))
            if room.isSeen {
                let grant = try directory.authorizePublish(streamKey: #require(ann.credentials).streamKey).get()
                _ = directory.publishBegan(grant, connection: 1)
                let media = PublishedMedia(hasVideo: true, hasAudio: true)
                directory.publishChanged(grant, connection: 1, media: media)
                let seen = MixerReport.Entry(
                    participantSID: ann.participant.sid,
                    audioLevel: nil,
                    subscribed: [.mic, .camera]
                )
                try directory.report(room: room.name, MixerReport(entries: [seen]))
            }
            // wasOnAir stays set after the hosts left.
            try directory.leave(room: room.name, participant: "ann", reason: .left)
            try directory.end(room: room.name)
            #expect(try directory.room(room.name).lingerTime == room.time, "\(room.name)")
        }
        log.clear()
        for (milliseconds, expected) in [(9900, []), (100, ["shown"]), (2000, ["long"])] as [(Int, [String])] {
            clock.advance(by: .milliseconds(milliseconds))
            directory.sweep()
            #expect(log.all == expected.map { "\($0): room.updated completed" }, "\(milliseconds)")
            log.clear()
        }
        observation.cancel()
    }

    @Test("the mixer load is cleared when the mixer stops, with an event if degraded")
    func mixerStops() throws {
        let directory = directory()
        _ = try directory.create(RoomSettings(name: "show"))
        let log = RoomStatusLog()
        let observation = directory.observe { log.add($0) }
        for (level, expected) in [(3, 2), (0, 0)] {
            let load = MixerLoad(level: level, reason: level > 0 ? .work : nil, work: 0.9, cores: 1)
            try directory.report(room: "show", MixerReport(entries: [], load: load))
            #expect(try directory.room("show").load == load)
            directory.mixerStopped(room: "show")
            #expect(try directory.room("show").load == nil)
            #expect(log.all.count == expected, "\(log.all)")
            log.clear()
        }
        directory.mixerStopped(room: "nothing")
        observation.cancel()
    }

    @Test("53113 a restored room with a name in use is skipped, and none is restored twice")
    func restoredTwice() throws {
        let before = directory()
        _ = try before.create(RoomSettings(name: "show"))
        let record = try #require(before.record(of: "show"))
        let after = directory()
        after.restore([record, record])
        #expect(after.rooms().count == 1)
        let other = directory()
        let own = try other.create(RoomSettings(name: "show"))
        other.restore([record])
        #expect(other.rooms().map(\.sid) == [own.sid])
        #expect(other.record(of: "nothing") == nil)
    }

    @Test("a restart keeps the timeout of an unused room, and older records decode")
    func unusedRestart() throws {
        let before = directory()
        _ = try before.create(RoomSettings(name: "new", emptyTimeout: 5, unusedTimeout: 60))
        _ = try before.create(RoomSettings(name: "used", emptyTimeout: 5, unusedTimeout: 60))
        _ = try before.join(room: "used", JoinRequest(identity: "ann", mode: .sendAndReceive))
        try before.leave(room: "used", participant: "ann", reason: .left)
        let records = ["new", "used"].compactMap { before.record(of: $0) }
        #expect(records.map(\.wasJoined) == [false, true])

        var old = try #require(records.first)
        old.wasJoined = nil
        let text = try JSONEncoder().encode(old)
        #expect(!String(decoding: text, as: UTF8.self).contains("wasJoined"))
        #expect(try JSONDecoder().decode(RoomRecord.self, from: text) == old)

        let after = directory(at: 2_000)
        after.restore(records)
        clock.advance(by: .seconds(5))
        after.sweep()
        #expect(after.rooms(.inProgress).map(\.settings.name) == ["new"])
        clock.advance(by: .seconds(54))
        after.sweep()
        #expect(after.rooms(.inProgress).count == 1)
        clock.advance(by: .seconds(1))
        after.sweep()
        #expect(after.rooms(.inProgress).isEmpty)
    }

    @Test("of two stored rooms with one name the newest is restored, in any order")
    func twoOfOneName() throws {
        let before = directory()
        let older = try before.create(RoomSettings(name: "show"))
        let stale = try #require(before.record(of: "show"))
        try before.end(room: "show")
        clock.advance(by: .seconds(1))
        let newer = try before.create(RoomSettings(name: "show"))
        let fresh = try #require(before.record(of: newer.sid))
        for records in [[stale, fresh], [fresh, stale]] {
            let after = directory(at: 2_000)
            after.restore(records)
            #expect(after.rooms().map(\.sid) == [newer.sid])
            #expect(after.record(of: older.sid) == nil)
        }
    }

    @Test("a room named like another's sid does not hide it")
    func namedLikeSID() throws {
        let directory = directory()
        let victim = try directory.create(RoomSettings(name: "show"))
        let other = try directory.create(RoomSettings(name: victim.sid))
        #expect(try directory.room(victim.sid).settings.name == "show")
        #expect(try directory.room(other.sid).settings.name == victim.sid)
        try directory.end(room: victim.sid)
        #expect(directory.rooms(.inProgress).map(\.sid) == [other.sid])
    }

    @Test("U3 an identity's events of all rooms reach its stream alone")
    func userEvents() async throws {
        let directory = directory()
        _ = try directory.create(RoomSettings(name: "one"))
        _ = try directory.create(RoomSettings(name: "two"))
        _ = try directory.invite(room: "one", InvitationRequest(inviter: "ann", identities: ["eve"]))
        let eve = try directory.subscribe(identity: "eve")
        let ann = try directory.subscribe(identity: "ann")
        let zoe = try directory.subscribe(identity: "zoe")
        #expect(directory.readerCount == 3)
        let second = try directory.invite(room: "two", InvitationRequest(inviter: "ben", identities: ["eve", "ann"]))
        _ = try directory.rejectInvitation(second.sid, by: "eve")
        _ = try directory.join(room: "two", JoinRequest(identity: "eve", mode: .receiveOnly))
        directory.broadcastHeartbeat()
        for subscription in [eve, ann, zoe] { subscription.cancel() }
        func names(_ subscription: EventSubscription) async -> [StageEvent.Name] {
            await subscription.events.reduce(into: []) { $0.append($1.name) }
        }
        #expect(await names(eve) == [.invitationCreated, .invitationCreated, .invitationRejected, .heartbeat])
        #expect(await names(ann) == [.invitationCreated, .invitationRejected, .heartbeat])
        #expect(await names(zoe) == [.heartbeat])
        #expect(directory.readerCount == 0)
    }

    @Test("a stalled user reader is disconnected with a final event")
    func slowUser() async throws {
        let directory = directory(StageSettings(waitingEvents: 5))
        _ = try directory.create(RoomSettings(name: "show"))
        let slow = try directory.subscribe(identity: "eve")
        for _ in 0..<20 { directory.broadcastHeartbeat() }
        #expect(directory.readerCount == 0)
        let events = await slow.events.reduce(into: []) { $0.append($1) }
        #expect(events.last?.payload == .sessionDisconnected(.readerTooSlow))
        #expect(events.dropLast().allSatisfy { $0.name == .heartbeat } && events.count == 7)
    }
}

/// Records room events of an observer as text.
private final class RoomStatusLog: Sendable {
    private let lines = Mutex<[String]>([])

    func add(_ event: StageEvent) {
        switch event.payload {
        case .roomCreated(let room), .roomUpdated(let room), .roomEnded(let room):
            lines.withLock { $0.append("\(room.name): \(event.name.rawValue) \(room.status.rawValue)") }
        default:
            break
        }
    }

    func clear() { lines.withLock { $0 = [] } }

    var all: [String] { lines.withLock { $0 } }
}

/// Records the rooms of `room.created` events.
final class CreatedRoomLog: Sendable {
    private let views = Mutex<[RoomView]>([])

    func add(_ event: StageEvent) {
        if case .roomCreated(let view) = event.payload { views.withLock { $0.append(view) } }
    }

    var rooms: [RoomView] { views.withLock { $0 } }
}
