import Testing

@testable import Stage

@Suite("A host of whom nothing is taken for a while")
struct RoomQuarantineTests {
    private var run = StageRun()
    private let host: String

    init() throws {
        host = try run.join("ann").sid
        _ = run.events()
    }

    @Test("It is told once, with the reason, and until its time is up its encoder is refused")
    mutating func refused() throws {
        run.room.quarantine(host, seconds: 30, at: 1000)
        guard case .participantMediaFailed(let view, let error)? = run.events().first?.payload else {
            Issue.record("nothing was told")
            return
        }
        #expect(view.quarantinedUntil == 1030 && error.code == 53404 && error.retryAfter == 30)
        #expect(run.room.refusal(ofPublisher: host, at: 1029.5) == .quarantined(seconds: 1))
        let admission = run.room.publishBegan(.camera, by: host, connection: 1, at: 1029.5)
        #expect(admission == .refused(.quarantined(seconds: 1)))
        #expect(run.names() == [])
        #expect(run.room.publishBegan(.camera, by: host, connection: 2, at: 1030) == .accepted(replacing: nil))
        #expect(try run.view("ann").quarantinedUntil == nil)
        #expect(run.names().contains(.participantUpdated))
    }

    @Test("An operator releases it, and whoever joins anew is free")
    mutating func released() throws {
        run.room.quarantine(host, seconds: 30, at: 1000)
        _ = run.events()
        try run.room.release("ann", at: 1001)
        #expect(run.names() == [.participantUpdated])
        #expect(run.room.refusal(ofPublisher: host, at: 1001) == nil)
        try run.room.release("ann", at: 1002)
        #expect(run.names() == [])
        #expect(run.code { try $0.release("nobody", at: 1002) } == 53204)

        run.room.quarantine(host, seconds: 30, at: 1003)
        let next = try run.join("ann").sid
        #expect(next != host)
        #expect(run.room.refusal(ofPublisher: next, at: 1003) == nil)
        #expect(run.room.refusal(ofPublisher: host, at: 1003) == .unknownKey)
    }

    @Test("Who is no host, or not there, is not told of")
    mutating func others() throws {
        let viewer = try run.join("eve", .receiveOnly).sid
        _ = run.events()
        run.room.quarantine(viewer, seconds: 30, at: 1000)
        run.room.quarantine("PAnobody", seconds: 30, at: 1000)
        #expect(run.names() == [])
    }
}
