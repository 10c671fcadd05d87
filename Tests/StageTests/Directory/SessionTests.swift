import FootlightTesting
import Stage
import Testing

@Suite("Sessions")
struct SessionTests {
    private let clock = ManualClock()
    private let directory: RoomDirectory

    init() throws {
        directory = RoomDirectory(
            settings: StageSettings(waitingEvents: 100),
            clock: clock,
            pepper: [1],
            startedAt: 1_000
        )
        _ = try directory.create(RoomSettings(name: "show"))
    }

    private func code(_ body: () throws -> Void) -> Int? {
        do {
            try body()
            return nil
        } catch {
            return (error as? StageError)?.code
        }
    }

    private func join(_ identity: String, _ mode: ParticipantMode = .receiveOnly) throws -> JoinResult {
        try directory.join(room: "show", JoinRequest(identity: identity, mode: mode))
    }

    private func status(_ identity: String) throws -> ParticipantStatus {
        try directory.participant(identity, in: "show").status
    }

    private func open(_ joined: JoinResult) throws -> EventSubscription {
        try directory.subscribe(
            room: "show",
            after: nil,
            participant: joined.participant.sid,
            sessionID: joined.sessionID
        )
    }

    /// Advances the time, with sweeps as often as in the running gateway.
    private func wait(_ seconds: Double) {
        for _ in 0..<Int(seconds * 4) {
            clock.advance(by: .milliseconds(250))
            directory.sweep()
        }
    }

    private func rest(of subscription: EventSubscription) async -> [StageEvent] {
        await subscription.events.reduce(into: []) { $0.append($1) }
    }

    @Test("a participant is connecting until its own stream opens, and lost five seconds after it closed")
    func stream() async throws {
        let eve = try join("eve")
        #expect(eve.participant.status == .connecting)
        _ = try directory.subscribe(room: "show", after: nil, participant: "eve")
        #expect(try status("eve") == .connecting, "anybody may look on; without the session it is no sign of life")
        let own = try open(eve)
        #expect(try status("eve") == .connected)
        own.cancel()
        wait(4.75)
        #expect(try status("eve") == .connected)
        wait(0.25)
        #expect(try status("eve") == .reconnecting)
        let again = try open(eve)
        #expect(try status("eve") == .connected)
        try directory.heartbeat(room: "show", participant: "eve", sessionID: eve.sessionID)
        again.cancel()
        #expect(try status("eve") == .connected, "a fresh heartbeat bridges five seconds")
        wait(5)
        #expect(try status("eve") == .reconnecting)
    }

    @Test("a stream reopened before the first heartbeat causes no loss event")
    func reopened() async throws {
        let onlooker = try directory.subscribe(room: "show", after: nil)
        let eve = try join("eve")
        try open(eve).cancel()
        wait(1)
        let again = try open(eve)
        wait(1)
        try directory.end(room: "show")
        let names = await rest(of: onlooker).map(\.name).filter { $0 != .viewershipUpdated }
        #expect(names == [.roomSnapshot, .participantJoined, .participantUpdated, .roomEnded])
        #expect(await rest(of: again).last?.payload == .sessionDisconnected(.roomCompleted))
    }

    @Test("T12 T13 53002 a timed out client receives 53002 on its stream and at its return")
    func timeOut() async throws {
        let eve = try join("eve")
        let own = try open(eve)
        wait(45)
        let events = await rest(of: own)
        #expect(
            events.map(\.name).filter { $0 != .viewershipUpdated } == [
                .roomSnapshot, .participantReconnecting, .participantLeft, .sessionDisconnected,
            ]
        )
        #expect(events.last?.payload == .sessionDisconnected(.sessionTimedOut))
        let late = #expect(throws: StageError.self) {
            try directory.reconnect(room: "show", participant: eve.participant.sid, sessionID: eve.sessionID)
        }
        #expect(late?.code == 53002 && late?.status == 410)
        #expect(
            code { try directory.heartbeat(room: "show", participant: "eve", sessionID: eve.sessionID) } == 53002
        )
        #expect(code { _ = try open(eve) } == 53002)
    }

    @Test("a reconnect returns the join's result without keys, and is no join")
    func reconnect() throws {
        let ann = try join("ann", .sendAndReceive)
        try directory.heartbeat(room: "show", participant: "ann", sessionID: ann.sessionID, audioLevel: -30)
        #expect(try directory.participant("ann", in: "show").audioLevel == -30)
        wait(20)
        #expect(try status("ann") == .reconnecting)
        #expect(code { try directory.requireReady(room: "show", participant: "ann") } == 3065)
        let back = try directory.reconnect(room: "show", participant: "ann", sessionID: ann.sessionID)
        #expect(back.participant.sid == ann.participant.sid && back.sessionID == ann.sessionID)
        #expect(back.participant.status == .connected && back.credentials == nil)
        #expect(back.room.counts.hosts == 1)
        #expect(code { try directory.requireReady(room: "show", participant: "ann") } == nil)
        #expect(try directory.authorizePublish(streamKey: #require(ann.credentials).streamKey).get().identity == "ann")
    }

    @Test("T17 53205 the older of two sessions receives 53205, also at a later return")
    func duplicate() async throws {
        let old = try join("eve")
        let stream = try open(old)
        let new = try join("eve")
        let events = await rest(of: stream)
        #expect(events.last?.payload == .sessionDisconnected(.duplicateIdentity))
        #expect(events.filter { $0.name == .participantLeft }.count == 1)
        #expect(
            code { _ = try directory.reconnect(room: "show", participant: "eve", sessionID: old.sessionID) } == 53205
        )
        #expect(try directory.reconnect(room: "show", participant: "eve", sessionID: new.sessionID).sessionID != "")
        #expect(try directory.summary(of: "show").counts.receiveOnly == 1)
    }

    @Test("53118 every session receives 53118 at the room's end, and 53106 later")
    func roomEnds() async throws {
        let eve = try join("eve")
        let own = try open(eve)
        let onlooker = try directory.subscribe(room: "show", after: nil)
        try directory.end(room: "show")
        #expect(await rest(of: own).map(\.name) == [.roomSnapshot, .roomEnded, .sessionDisconnected])
        #expect(await rest(of: onlooker).map(\.name) == [.roomSnapshot, .roomEnded])
        #expect(
            code { _ = try directory.reconnect(room: "show", participant: "eve", sessionID: eve.sessionID) } == 53106
        )
        #expect(throws: StageError.roomGone) {
            try directory.heartbeat(room: "show", participant: "eve", sessionID: eve.sessionID)
        }
        #expect(throws: StageError.roomGone) { _ = try open(eve) }
        #expect(throws: StageError.roomGone) { _ = try directory.subscribe(room: "show", after: 3) }
        #expect(throws: StageError.roomNotFound) { _ = try directory.subscribe(room: "show", after: nil) }
        #expect(directory.readerCount == 0)
    }

    @Test("53405 a host without media receives 53405 on its own stream")
    func mediaTimeOut() async throws {
        let ann = try join("ann", .sendAndReceive)
        let own = try open(ann)
        _ = try directory.publishTrack(room: "show", participant: "ann", name: .mic)
        wait(10)
        try directory.heartbeat(room: "show", participant: "ann", sessionID: ann.sessionID)
        wait(5)
        let last = await rest(of: own).suffix(3)
        #expect(last.map(\.name).contains(.participantLeft))
        #expect(last.last?.payload == .sessionDisconnected(.mediaLost))
        #expect(try directory.summary(of: "show").counts.hosts == 0)
        let key = try #require(ann.credentials).streamKey
        #expect(directory.authorizePublish(streamKey: key) == .failure(.unknownKey), "its key goes with it")
    }

    @Test("The gate of a grant follows the stage: mute, unpublish, demotion and leaving close it")
    func gate() throws {
        let ann = try join("ann", .sendAndReceive)
        let gate = try directory.authorizePublish(streamKey: #require(ann.credentials).streamKey).get().gate
        #expect(gate.passes(.mic) && gate.passes(.camera) && gate.passes(.screen))
        _ = try directory.publishTrack(room: "show", participant: "ann", name: .mic, isEnabled: false)
        #expect(!gate.passes(.mic) && gate.passes(.camera))
        _ = try directory.setTrack(room: "show", participant: "ann", name: .mic, isEnabled: true)
        #expect(gate.passes(.mic))
        try directory.unpublishTrack(room: "show", participant: "ann", name: .camera)
        #expect(gate.openTracks == [.mic, .screen])
        _ = try directory.changeMode(room: "show", participant: "ann", to: .receiveOnly)
        #expect(gate.openTracks.isEmpty)
        _ = try directory.changeMode(room: "show", participant: "ann", to: .sendAndReceive)
        #expect(gate.openTracks == [.mic, .camera, .screen])
        try directory.leave(room: "show", participant: "ann", reason: .left)
        #expect(gate.openTracks.isEmpty)
        let wrong = #expect(throws: StageError.self) {
            try directory.publishTrack(room: "show", participant: "ann", name: .mic, kind: .video)
        }
        #expect(wrong?.code == 3073)
    }

    @Test("Name and metadata can be changed, within their limits")
    func updateParticipant() throws {
        _ = try join("ann", .sendAndReceive)
        let changed = try directory.updateParticipant(
            room: "show",
            participant: "ann",
            displayName: "Ann ☀️",
            metadata: #"{"team":"red"}"#
        )
        #expect(changed.displayName == "Ann ☀️" && changed.metadata == #"{"team":"red"}"#)
        #expect(try directory.layout(room: "show").tiles.first?.label == "Ann ☀️")
        let same = try directory.updateParticipant(room: "show", participant: "ann", displayName: "Ann ☀️")
        #expect(same.revision == changed.revision)
        #expect(
            try directory.updateParticipant(room: "show", participant: "ann", displayName: " ").displayName == "ann"
        )
        let long = "{\"a\":\"" + String(repeating: "x", count: 4096) + "\"}"
        for metadata in [long, "[]", "", "null"] {
            #expect(
                code { _ = try directory.updateParticipant(room: "show", participant: "ann", metadata: metadata) }
                    == 3073
            )
        }
    }

    @Test("T18 a join returns the effective call settings")
    func callSettings() throws {
        let preference = CallSettings(isAudioOn: false, maximumBitrate: 50_000, width: 720, height: 1_280)
        let request = JoinRequest(identity: "ann", mode: .sendAndReceive, callSettings: preference)
        let settings = try directory.join(room: "show", request).callSettings
        #expect(settings.isAudioOn == false && settings.isVideoOn == true && settings.cameraPosition == .front)
        #expect(settings.maximumBitrate == 12_000 && settings.width == 720 && settings.height == 1_280)
        let none = try directory.join(room: "show", JoinRequest(identity: "ben", mode: .sendAndReceive)).callSettings
        #expect(none.maximumBitrate == 12_000 && none.width == 1_920 && none.height == 1_080)
        let odd = JoinRequest(identity: "eve", mode: .receiveOnly, callSettings: CallSettings(width: 721))
        #expect(code { _ = try directory.join(room: "show", odd) } == 3073)
    }
}
