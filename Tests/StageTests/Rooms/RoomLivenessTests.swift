import Testing

@testable import Stage

@Suite("Room liveness")
struct RoomLivenessTests {
    private var run = StageFixture()

    private func left(_ event: StageEvent) -> LeaveReason? {
        if case .participantLeft(_, let reason) = event.payload { reason } else { nil }
    }

    private func reason(_ event: StageEvent) -> Int? {
        if case .participantReconnecting(_, let error) = event.payload { error.code } else { nil }
    }

    @Test("T12 a host whose heartbeats stop is reconnecting at 15 s and gone 30 s later, its tracks and tile with it")
    mutating func heartbeatsStop() throws {
        try run.join("ann")
        try run.heartbeat("ann")
        #expect(run.names() == [.participantJoined, .layoutChanged, .participantUpdated])
        run.wait(14.75)
        #expect(run.events().isEmpty)
        run.wait(0.25)
        let lost = run.events()
        #expect(lost.map(\.name) == [.participantReconnecting])
        #expect(lost.compactMap(reason) == [53001])
        #expect(run.room.counts.hosts == 1 && run.room.layout.tiles.count == 1, "the place is kept")
        run.wait(29.75)
        #expect(run.events().isEmpty)
        run.wait(0.25)
        let gone = run.events()
        #expect(gone.map(\.name) == [.participantLeft, .layoutChanged])
        #expect(gone.compactMap(left) == [.sessionTimeout])
        #expect(run.room.counts == RoomCounts())
        run.wait(100)
        #expect(run.events().isEmpty)
    }

    @Test("A heartbeat brings a lost participant back")
    mutating func back() throws {
        try run.join("eve", .receiveOnly)
        try run.heartbeat("eve")
        run.wait(30)
        _ = run.events()
        try run.heartbeat("eve")
        #expect(run.names() == [.participantReconnected])
        #expect(try run.view("eve").status == .connected)
    }

    @Test("a viewer that never opens its stream is removed after 15 s")
    mutating func neverCame() throws {
        try run.join("eve", .receiveOnly)
        try run.join("sam", .signallingOnly)
        try run.join("ann")
        _ = run.events()
        run.wait(15)
        let gone = run.events().compactMap(left)
        #expect(gone == [.sessionTimeout, .sessionTimeout])
        #expect(run.room.participants.map(\.identity) == ["ann"])
    }

    @Test("53405 a signalled host that announced a microphone and sends nothing is gone after 15 s")
    mutating func mediaNeverCame() throws {
        try run.join("ann")
        try run.heartbeat("ann")
        _ = try run.room.publishTrack(.mic, of: "ann", isEnabled: true, at: run.now)
        _ = run.events()
        run.wait(10)
        try run.heartbeat("ann")
        run.wait(4.75)
        #expect(run.events().isEmpty)
        run.wait(0.25)
        #expect(run.events().compactMap(left) == [.mediaTimeout])
    }

    @Test("53405 a signalled host whose media falls silent is reconnecting, and gone at 30 s")
    mutating func mediaSilent() throws {
        try run.join("ann")
        let connection = try run.encode("ann")
        try run.heartbeat("ann")
        try run.mix("ann")
        _ = run.events()
        // Ingest reports a silence after three seconds.
        run.now += 3
        try run.send("ann", PublishedMedia(), connection: connection)
        let lost = run.events()
        #expect(
            lost.map(\.name) == [.trackUnsubscribed, .trackUnsubscribed, .participantReconnecting, .layoutChanged]
        )
        #expect(lost.compactMap(reason) == [53405])
        #expect(try run.view("ann").tracks.map(\.mediaState) == [.interrupted, .interrupted])
        for _ in 0..<5 {
            run.wait(5)
            try run.heartbeat("ann")
        }
        run.wait(1.75)
        #expect(run.events().isEmpty)
        run.wait(0.25)
        #expect(run.events().compactMap(left) == [.mediaTimeout])
    }

    @Test("Media that comes back in time brings its host back")
    mutating func mediaBack() throws {
        try run.join("ann")
        let connection = try run.encode("ann")
        try run.heartbeat("ann")
        try run.mix("ann")
        try run.send("ann", PublishedMedia(), connection: connection)
        run.wait(10)
        _ = run.events()
        try run.send("ann", StageFixture.media, connection: connection)
        #expect(run.names() == [.participantReconnected])
        try run.mix("ann")
        #expect(run.names() == [.trackSubscribed, .trackSubscribed, .layoutChanged])
        #expect(try run.view("ann").isMicOn)
    }

    @Test("a host whose encoder disconnects cleanly stays connected; after a loss it is reconnecting")
    mutating func encoderDisconnects() throws {
        try run.join("ann")
        let connection = try run.encode("ann")
        try run.heartbeat("ann")
        try run.stopEncoder("ann", connection: connection, isLost: false)
        #expect(try run.view("ann").status == .connected)
        try run.stopEncoder("ann", connection: try run.encode("ann"), isLost: true)
        #expect(try run.view("ann").status == .reconnecting)
    }

    @Test("V20 3065 commands wait while a participant is reconnecting; an encoder alone can be commanded")
    mutating func commands() throws {
        try run.join("eve", .receiveOnly)
        try run.heartbeat("eve")
        try run.room.requireReady("eve")
        run.wait(15)
        let refusal = run.code { try $0.requireReady("eve") }
        #expect(refusal == 3065)
        try run.join("ann")
        try run.stopEncoder("ann", connection: try run.encode("ann"))
        #expect(try run.view("ann").status == .reconnecting)
        try run.room.requireReady("ann")
    }

    private func code(_ identity: String, _ session: String) -> Int? {
        do {
            _ = try run.room.index(of: identity, sessionID: session)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("53002 53205 53204 1002 an ended session's return gets the reason")
    mutating func sessions() throws {
        let first = try run.join("eve", .receiveOnly)
        #expect(code("eve", first.sessionID) == nil && code(first.sid, first.sessionID) == nil)
        let second = try run.join("eve", .receiveOnly)
        #expect(code("eve", first.sessionID) == 53205)
        #expect(code("eve", "SE0") == 53002)
        #expect(code("zoe", "SE0") == 53204)
        run.wait(15)
        #expect(code("eve", second.sessionID) == 53002)
        let third = try run.join("eve", .receiveOnly)
        _ = try run.room.leave("eve", reason: .removed, at: run.now)
        #expect(code("eve", third.sessionID) == 1002)
        let fourth = try run.join("eve", .receiveOnly)
        _ = try run.room.leave("eve", reason: .left, at: run.now)
        #expect(code("eve", fourth.sessionID) == 53204)
        for number in 0..<400 { run.room.endedSessions.add("SE\(number)", .sessionTimeout) }
        #expect(run.room.endedSessions.count == EndedSessions.capacity)
        try run.room.end(at: run.now)
        #expect(code("eve", third.sessionID) == 53106)
    }
}
