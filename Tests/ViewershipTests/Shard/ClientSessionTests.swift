import Media
import Stage
import TestSupport
import Testing

@testable import Viewership

@Suite("Session limits per client", .enabled(if: TestRun.isFull))
struct ClientSessionTests {
    private let fixture = LedgerFixture(
        configuration: ViewershipConfiguration(unprovenPerClient: 500, viewersPerClient: 100)
    )

    private func admit(
        from address: String = "192.0.2.1",
        sid: String? = nil,
        identity: String? = nil
    ) -> ViewerAdmission {
        fixture.ledger.admit(PlayerRequest(sid: sid, address: address, identity: identity), to: fixture.room)
    }

    private func account(_ address: String) throws -> UInt64 { try #require(PeerAddress(address)).account }

    private func begin(_ count: Int, from address: String = "192.0.2.1") throws -> [String] {
        try (0..<count).map { _ in
            guard case .viewer(let sid) = admit(from: address) else { throw Refused() }
            return sid
        }
    }

    private struct Refused: Error {}

    @Test("21,000 requests of one address without playback count no viewer, and begin at most 500 sessions")
    func bare() throws {
        fixture.ledger.roomBegan(fixture.room)
        var outcomes: [Int: Int] = [:]
        for _ in 0..<21_000 { outcomes[admit() == .crowded ? 1 : 0, default: 0] += 1 }
        #expect(outcomes == [0: 500, 1: 20_500])
        #expect(fixture.ledger.requesters == 0 && fixture.ledger.refusedSessions == 20_500)
        #expect(fixture.ledger.sessions(of: try account("192.0.2.1")) == ClientSessions(watching: 0, unproven: 500))
        // Other clients and tokens are unaffected, and unqualified sessions expire.
        _ = try begin(1, from: "192.0.2.2")
        guard case .viewer = admit(identity: "ada") else { throw Refused() }
        fixture.advance(to: 60)
        #expect(fixture.ledger.sessions(of: try account("192.0.2.1")) == ClientSessions())
        _ = try begin(500)
    }

    @Test("an IPv6 /64 network is one client; a shared address is none")
    func houses() throws {
        fixture.ledger.roomBegan(fixture.room)
        for number in 0..<600 { _ = admit(from: "2001:db8:0:1::\(String(number, radix: 16))") }
        #expect(fixture.ledger.sessions(of: try account("2001:db8:0:1::")).unproven == 500)
        var request = PlayerRequest(address: "192.0.2.9")
        request.isSharedAddress = true
        for _ in 0..<600 { _ = fixture.ledger.admit(request, to: fixture.room) }
        #expect(fixture.ledger.sessions(of: try account("192.0.2.9")) == ClientSessions())
        #expect(fixture.ledger.refusedSessions == 100)
    }

    @Test("a hundred players of one address count; the others play on, and one counts when another has left")
    func counted() throws {
        fixture.ledger.roomBegan(fixture.room)
        let sids = try begin(150)
        for second in stride(from: 1.0, through: 9, by: 2) {
            for sid in sids { fixture.record(sid, .playlistServed, at: second, by: .hls) }
            fixture.advance(to: second + 1)
        }
        #expect(fixture.report.concurrent == 100)
        let labels = ["room": fixture.room, "reason": "surplus"]
        #expect(fixture.metric("footlight_viewers_excluded_total", labels) == 50)
        let sessions = fixture.ledger.sessions(of: try account("192.0.2.1"))
        #expect(sessions == ClientSessions(watching: 100, unproven: 0))
        // Excluded players are known, and get their playlists.
        #expect(sids.allSatisfy { admit(sid: $0).isPlaying })
        let others = try begin(10, from: "192.0.2.2")
        for second in stride(from: 11.0, through: 15, by: 2) {
            for sid in others + sids.prefix(60) { fixture.record(sid, .playlistServed, at: second, by: .hls) }
            fixture.advance(to: second + 1)
        }
        #expect(fixture.report.concurrent >= 110 - 40)
        // Ended sessions may resume for a while, and expire then.
        fixture.poll(sids[0], from: 17, to: 91)
        let next = try begin(20)
        for second in stride(from: 93.0, through: 97, by: 2) {
            for sid in next { fixture.record(sid, .playlistServed, at: second, by: .hls) }
            fixture.advance(to: second + 1)
        }
        #expect(next.allSatisfy { admit(sid: $0) == .viewer(sid: $0) })
        #expect(fixture.ledger.sessions(of: try account("192.0.2.1")).watching == 21)
    }

    @Test("only a qualified session may return to a full room")
    func returning() throws {
        fixture.ledger.roomBegan(fixture.room)
        let sids = try begin(2)
        fixture.poll(sids[0], from: 1, to: 7)
        #expect(fixture.ledger.mayReturn(sid: sids[0], room: fixture.room))
        #expect(!fixture.ledger.mayReturn(sid: sids[1], room: fixture.room))
        // An excluded monitor may return once it has played.
        let request = PlayerRequest(address: "192.0.2.3", role: .monitor)
        guard case .uncounted(let monitor) = fixture.ledger.admit(request, to: fixture.room) else { throw Refused() }
        #expect(!fixture.ledger.mayReturn(sid: monitor, room: fixture.room))
        fixture.record(monitor, .playlistServed, at: 8, by: .hls)
        #expect(fixture.ledger.mayReturn(sid: monitor, room: fixture.room))
    }

    @Test("restored sessions return beyond the limits, and then count for their client")
    func recovered() throws {
        fixture.ledger.enableHistory()
        fixture.ledger.roomBegan(fixture.room, sid: "RM1")
        let sids = try begin(5)
        for second in stride(from: 1.0, through: 9, by: 2) {
            for sid in sids { fixture.record(sid, .playlistServed, at: second, by: .hls) }
            fixture.advance(to: second + 1)
        }
        var recovered = RecoveredAudience(lastSeen: 1_800_000_010_000)
        let batch = fixture.ledger.drainHistory()
        recovered.broadcasts = Array(batch.broadcasts.values)
        recovered.sessions = Array(batch.sessions.values)
        let later = LedgerFixture(
            configuration: ViewershipConfiguration(unprovenPerClient: 1, viewersPerClient: 100),
            clock: fixture.clock,
            start: fixture.start
        )
        later.ledger.enableHistory()
        later.ledger.restore(recovered)
        later.ledger.roomBegan(later.room, sid: "RM1")
        for sid in sids {
            let request = PlayerRequest(sid: sid, address: "192.0.2.1")
            #expect(later.ledger.admit(request, to: later.room) == .viewer(sid: sid))
        }
        #expect(later.ledger.sessions(of: try account("192.0.2.1")) == ClientSessions(watching: 5, unproven: 0))
    }
}

extension ViewerAdmission {
    fileprivate var isPlaying: Bool {
        switch self {
        case .viewer, .uncounted: true
        case .refused, .crowded, .denied: false
        }
    }
}
