import Testing

@testable import Stage

@Suite("A host's connection before, and without, its first media")
struct RoomConnectionTests {
    private var run = StageRun()

    private func reasons(_ events: [StageEvent]) -> [Int] {
        events.compactMap { event in
            if case .participantReconnecting(_, let error) = event.payload { error.code } else { nil }
        }
    }

    private func left(_ events: [StageEvent]) -> [LeaveReason] {
        events.compactMap { event in
            if case .participantLeft(_, let reason) = event.payload { reason } else { nil }
        }
    }

    /// A signalled host with a camera by command, and a connection that has not sent anything yet.
    private mutating func connect(_ connection: UInt64 = 9) throws {
        try run.join("ann")
        try run.heartbeat("ann")
        _ = try run.room.publishTrack(.camera, of: "ann", isEnabled: true, at: run.now)
        try begin(connection)
        _ = run.events()
    }

    private mutating func begin(_ connection: UInt64) throws {
        _ = run.room.publishBegan(.camera, by: try run.participant("ann").sid, connection: connection, at: run.now)
    }

    /// Time with heartbeats.
    private mutating func live(_ seconds: Double) throws {
        let end = run.now + seconds
        while run.now < end {
            try run.heartbeat("ann")
            run.wait(min(1, end - run.now))
        }
    }

    @Test("53405 a signalled host whose connection never sends is missed at 3 s and gone at 15 s")
    mutating func neverSends() throws {
        try connect()
        try live(3)
        #expect(run.events().isEmpty)
        try run.send("ann", PublishedMedia(), connection: 9)
        #expect(reasons(run.events()) == [53405])
        try live(11.75)
        #expect(run.events().isEmpty)
        run.wait(0.25)
        #expect(left(run.events()) == [.mediaTimeout])
    }

    @Test("53405 the time for first media begins with the connection")
    mutating func clockBegins() throws {
        try run.join("ann")
        try run.heartbeat("ann")
        _ = try run.room.publishTrack(.camera, of: "ann", isEnabled: true, at: run.now)
        try live(10)
        try begin(9)
        try live(14.75)
        #expect(left(run.events()).isEmpty)
        run.wait(0.25)
        #expect(left(run.events()) == [.mediaTimeout])
    }

    @Test("A start that takes two seconds is no loss")
    mutating func normalStart() throws {
        try connect()
        try live(2)
        try run.send("ann", StageRun.media, connection: 9)
        try run.mix("ann")
        try live(60)
        let events = run.events()
        #expect(reasons(events).isEmpty && left(events).isEmpty)
        #expect(try run.view("ann").status == .connected)
    }

    @Test("A connection that takes over shows what was there until it begins, and is missed when it does not")
    mutating func takeover() throws {
        try connect()
        try run.send("ann", StageRun.media, connection: 9)
        try run.mix("ann")
        try live(5)
        _ = run.events()
        try begin(10)
        try run.mix("ann")
        #expect(run.events().isEmpty)
        #expect(try run.view("ann").isCameraOn)
        try live(3)
        try run.send("ann", PublishedMedia(), connection: 10)
        let events = run.events()
        #expect(reasons(events) == [53405])
        #expect(try !run.view("ann").isCameraOn && !run.view("ann").isMicOn)
        try live(12)
        #expect(left(run.events()) == [.mediaTimeout])
    }

    @Test("The screen's connection keeps a host whose camera has ended, for as long as it may begin")
    mutating func pendingScreen() throws {
        try connect()
        try run.send("ann", StageRun.media, connection: 9)
        _ = run.room.publishBegan(.screen, by: try run.participant("ann").sid, connection: 10, at: run.now)
        try live(20)
        #expect(left(run.events()).isEmpty)
        try run.stopEncoder("ann", connection: 9)
        #expect(reasons(run.events()).isEmpty)
        try live(14.75)
        #expect(left(run.events()).isEmpty)
        run.wait(0.25)
        #expect(left(run.events()) == [.mediaTimeout])
    }

    @Test("An encoder and nothing else that never sends is missed, and never removed")
    mutating func encoderOnly() throws {
        try run.join("ann")
        try begin(9)
        #expect(try run.view("ann").status == .connected)
        run.wait(3)
        _ = run.events()
        try run.send("ann", PublishedMedia(), connection: 9)
        #expect(reasons(run.events()) == [53405])
        run.wait(3_600)
        #expect(run.events().isEmpty)
        try run.send("ann", StageRun.media, connection: 9)
        #expect(run.names().contains(.participantReconnected))
    }
}
