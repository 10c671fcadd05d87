import Testing

@testable import Stage

@Suite("Revisions that never step back")
struct RoomRevisionTests {
    private var run = StageRun()

    @Test("However much happens that is not stored, an event that is comes more often than a restart leaps")
    mutating func storedInTime() throws {
        #expect(Room.revisionsUntilStored < Room.revisionLeap)
        var told: [UInt64] = []
        for _ in 0..<120_000 {
            run.room.emit(.viewershipUpdated, at: run.now)
            if run.room.revision % 1_000 < 2 { told += run.events().filter { $0.name == .roomUpdated }.map(\.revision) }
        }
        #expect(told == [50_001, 100_001])
    }

    @Test("The first sign of signalling is told though nothing else changes, so that it is stored")
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

    @Test("A level that a client reports is kept within the scale")
    mutating func level() throws {
        try run.join("ann")
        for (told, kept) in [(5.0, 0.0), (-400, -127), (-31.5, -31.5), (.nan, -31.5)] {
            run.room.heartbeat(at: 0, audioLevel: told, now: run.now)
            #expect(try run.view("ann").audioLevel == kept)
        }
    }
}
