import Media
import Stage
import Testing

@testable import Viewership

@Suite("How many sessions one client may have")
struct ClientSessionTests {
    private let stand = Stand(configuration: ViewershipConfiguration(unprovenPerClient: 500, viewersPerClient: 100))

    private func admit(
        from address: String = "192.0.2.1",
        sid: String? = nil,
        identity: String? = nil
    ) -> ViewerAdmission {
        stand.ledger.admit(PlayerRequest(sid: sid, address: address, identity: identity), to: stand.room)
    }

    private func account(_ address: String) throws -> UInt64 { try #require(PeerAddress(address)).account }

    private func begin(_ count: Int, from address: String = "192.0.2.1") throws -> [String] {
        try (0..<count).map { _ in
            guard case .viewer(let sid) = admit(from: address) else { throw Refused() }
            return sid
        }
    }

    private struct Refused: Error {}

    @Test("21 000 bare requests of one address take no viewer's place, and beyond 500 no session either")
    func bare() throws {
        stand.ledger.roomBegan(stand.room)
        var outcomes: [Int: Int] = [:]
        for _ in 0..<21_000 { outcomes[admit() == .crowded ? 1 : 0, default: 0] += 1 }
        #expect(outcomes == [0: 500, 1: 20_500])
        #expect(stand.ledger.requesters == 0 && stand.ledger.refusedSessions == 20_500)
        #expect(stand.ledger.sessions(of: try account("192.0.2.1")) == ClientSessions(watching: 0, unproven: 500))
        // Neither a neighbour nor who shows a token is touched; and what was asked is forgotten.
        _ = try begin(1, from: "192.0.2.2")
        guard case .viewer = admit(identity: "ada") else { throw Refused() }
        stand.advance(to: 60)
        #expect(stand.ledger.sessions(of: try account("192.0.2.1")) == ClientSessions())
        _ = try begin(500)
    }

    @Test("A house of IPv6 is one client; a server that stands for many is none")
    func houses() throws {
        stand.ledger.roomBegan(stand.room)
        for number in 0..<600 { _ = admit(from: "2001:db8:0:1::\(String(number, radix: 16))") }
        #expect(stand.ledger.sessions(of: try account("2001:db8:0:1::")).unproven == 500)
        var request = PlayerRequest(address: "192.0.2.9")
        request.isOfMany = true
        for _ in 0..<600 { _ = stand.ledger.admit(request, to: stand.room) }
        #expect(stand.ledger.sessions(of: try account("192.0.2.9")) == ClientSessions())
        #expect(stand.ledger.refusedSessions == 100)
    }

    @Test("Of the players of one address a hundred count; the others play on, and a place is free when one has gone")
    func counted() throws {
        stand.ledger.roomBegan(stand.room)
        let sids = try begin(150)
        for second in stride(from: 1.0, through: 9, by: 2) {
            for sid in sids { stand.record(sid, .playlistServed, at: second, by: .hls) }
            stand.advance(to: second + 1)
        }
        #expect(stand.report.concurrent == 100)
        let labels = ["room": stand.room, "reason": "surplus"]
        #expect(stand.metric("footlight_viewers_excluded_total", labels) == 50)
        let sessions = stand.ledger.sessions(of: try account("192.0.2.1"))
        #expect(sessions == ClientSessions(watching: 100, unproven: 0))
        // Who plays uncounted is known, and gets its playlists.
        #expect(sids.allSatisfy { admit(sid: $0).isPlaying })
        let others = try begin(10, from: "192.0.2.2")
        for second in stride(from: 11.0, through: 15, by: 2) {
            for sid in others + sids.prefix(60) { stand.record(sid, .playlistServed, at: second, by: .hls) }
            stand.advance(to: second + 1)
        }
        #expect(stand.report.concurrent >= 110 - 40)
        // Those who went may come back for a while, and are forgotten then.
        stand.poll(sids[0], from: 17, to: 91)
        let next = try begin(20)
        for second in stride(from: 93.0, through: 97, by: 2) {
            for sid in next { stand.record(sid, .playlistServed, at: second, by: .hls) }
            stand.advance(to: second + 1)
        }
        #expect(next.allSatisfy { admit(sid: $0) == .viewer(sid: $0) })
        #expect(stand.ledger.sessions(of: try account("192.0.2.1")).watching == 21)
    }

    @Test("Only who was proven to watch finds a place when there is none for others")
    func returning() throws {
        stand.ledger.roomBegan(stand.room)
        let sids = try begin(2)
        stand.poll(sids[0], from: 1, to: 7)
        #expect(stand.ledger.mayReturn(sid: sids[0], room: stand.room))
        #expect(!stand.ledger.mayReturn(sid: sids[1], room: stand.room))
        // A monitor, which never counts, goes on once it has begun.
        let request = PlayerRequest(address: "192.0.2.3", role: .monitor)
        guard case .uncounted(let monitor) = stand.ledger.admit(request, to: stand.room) else { throw Refused() }
        #expect(!stand.ledger.mayReturn(sid: monitor, room: stand.room))
        stand.record(monitor, .playlistServed, at: 8, by: .hls)
        #expect(stand.ledger.mayReturn(sid: monitor, room: stand.room))
    }

    @Test("Those of an earlier run come back, however many, and are counted among their client's then")
    func recovered() throws {
        stand.ledger.keepHistory()
        stand.ledger.roomBegan(stand.room, sid: "RM1")
        let sids = try begin(5)
        for second in stride(from: 1.0, through: 9, by: 2) {
            for sid in sids { stand.record(sid, .playlistServed, at: second, by: .hls) }
            stand.advance(to: second + 1)
        }
        var recovered = RecoveredAudience(lastSeen: 1_800_000_010_000)
        let batch = stand.ledger.takeHistory()
        recovered.broadcasts = Array(batch.broadcasts.values)
        recovered.sessions = Array(batch.sessions.values)
        let later = Stand(
            configuration: ViewershipConfiguration(unprovenPerClient: 1, viewersPerClient: 100),
            clock: stand.clock,
            start: stand.start
        )
        later.ledger.keepHistory()
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
        case .refused, .crowded: false
        }
    }
}
