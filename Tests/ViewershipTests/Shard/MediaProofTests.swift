import FootlightTesting
import Media
import Stage
import TestSupport
import Testing

@testable import Viewership

/// Where media requests are seen, a session does not qualify by playlists alone.
@Suite("Qualification by media", .enabled(if: TestRun.isFull))
struct MediaProofTests {
    private let fixture: LedgerFixture

    init() {
        // Unqualified sessions are unlimited here; media is the condition under test.
        fixture = LedgerFixture(configuration: ViewershipConfiguration(unprovenPerClient: nil, viewersPerClient: 100))
        fixture.ledger.roomBegan(fixture.room)
        fixture.ledger.roomBegan("other")
    }

    private func begin(_ address: String = "192.0.2.1", room: String = "show") throws -> String {
        let request = PlayerRequest(userAgent: "x", address: address)
        guard case .viewer(let sid) = fixture.ledger.admit(request, to: room) else { throw Refused() }
        return sid
    }

    private struct Refused: Error {}

    private func record(
        _ sid: String,
        _ kind: AudienceEvent.Kind,
        at seconds: Double,
        room: String = "show",
        isMediaSeen: Bool = true
    ) {
        let at = fixture.moment(seconds)
        if at > fixture.clock.now { fixture.clock.advance(to: at) }
        fixture.ledger.record(
            AudienceEvent(sid: sid, room: room, playback: .hls, kind: kind, at: at, isMediaSeen: isMediaSeen)
        )
    }

    private func sendMedia(
        to address: String = "192.0.2.1",
        over connection: UInt64?,
        at seconds: Double,
        room: String = "show"
    ) throws {
        let client = try #require(PeerAddress(address)).account
        fixture.ledger.mediaServed(in: room, to: client, over: connection, at: fixture.moment(seconds))
    }

    private var lackingMedia: Int { fixture.report.excluded[.noMedia] ?? 0 }

    @Test("a session with playlists alone never counts, and is reported as without media")
    func playlistsAlone() throws {
        let sid = try begin()
        for second in stride(from: 0.0, through: 60, by: 2) {
            fixture.advance(to: second)
            record(sid, .playlistServed, at: second)
            #expect(fixture.report.concurrent == 0)
        }
        fixture.advance(to: 120)
        #expect(fixture.report.joins == 0 && fixture.report.watchTimeSeconds == 0 && lackingMedia == 1)
        #expect(fixture.report.unfiltered == 0 && fixture.report.uniques.devices == 0)
    }

    @Test("media on the connection of its playlists qualifies a session from its first playlist on")
    func ownConnection() throws {
        let sid = try begin()
        record(sid, .playlistServed, at: 0)
        record(sid, .delivered, at: 0.1)
        record(sid, .playlistServed, at: 2)
        #expect(fixture.report.concurrent == 1 && fixture.report.watchTimeSeconds == 2)
    }

    @Test("media on another connection belongs to the client's session with the latest playlist")
    func otherConnection() throws {
        let (first, second) = (try begin(), try begin())
        record(first, .playlistServed, at: 0)
        record(second, .playlistServed, at: 0.5)
        try sendMedia(over: 7, at: 0.6)
        record(first, .playlistServed, at: 2.1)
        #expect(fixture.report.concurrent == 0)
        record(second, .playlistServed, at: 2.6)
        #expect(fixture.report.concurrent == 1)
        // The connection stays with that session, whatever others request.
        for turn in 2...20 {
            let time = Double(turn) * 2
            fixture.advance(to: time)
            record(second, .playlistServed, at: time + 0.5)
            record(first, .playlistServed, at: time + 0.55)
            try sendMedia(over: 7, at: time + 0.6)
        }
        #expect(fixture.report.concurrent == 1 && fixture.report.joins == 1)
    }

    @Test("a player with a connection per file is one viewer, and sessions beside it without media none")
    func connectionForEachFile() throws {
        let player = try begin()
        let others = try (0..<40).map { _ in try begin() }
        for turn in 0..<30 {
            let time = Double(turn) * 2
            fixture.advance(to: time)
            for (number, sid) in others.enumerated() { record(sid, .playlistServed, at: time + Double(number) / 50) }
            record(player, .playlistServed, at: time + 0.9)
            try sendMedia(over: UInt64(turn), at: time + 0.91)
        }
        #expect(fixture.report.joins == 1)
        fixture.advance(to: 200)
        #expect(lackingMedia == 40)
    }

    @Test(
        "beside players with a connection per segment, no more sessions count than there are players"
    )
    func beside() throws {
        let others = try (0..<6).map { _ in try begin() }
        let players = try (0..<2).map { _ in try begin() }
        var connection: UInt64 = 0
        func fetch(at seconds: Double) throws {
            connection += 1
            try sendMedia(over: connection, at: seconds)
        }
        var events: [(at: Double, body: () throws -> Void)] = []
        for turn in 0..<20 {
            for (number, sid) in others.enumerated() {
                let time = 0.13 + Double(turn) * 1.9 + Double(number) * 0.31
                events.append((time, { record(sid, .playlistServed, at: time) }))
            }
            for (number, sid) in players.enumerated() {
                let time = 3 + Double(turn) * 2 + Double(number) * 0.7
                events.append((time, { record(sid, .playlistServed, at: time) }))
                let files = turn == 0 ? [0.03, 0.05, 0.07] : [0.24]
                for delay in files { events.append((time + delay, { try fetch(at: time + delay) })) }
            }
        }
        for event in events.sorted(by: { $0.at < $1.at }) {
            fixture.advance(to: event.at)
            try event.body()
        }
        // A session that polls between a player's first playlist and its first files is mistaken for it.
        #expect((2...4).contains(fixture.report.joins))
    }

    @Test("concurrent players of one address that all poll and then all fetch are all counted")
    func atOneMoment() throws {
        for isKept in [true, false] {
            let address = isKept ? "192.0.2.7" : "192.0.2.8"
            let players = try (0..<30).map { _ in try begin(address) }
            for turn in 0..<4 {
                let time = (isKept ? 0 : 10) + Double(turn) * 2
                fixture.advance(to: time)
                for sid in players { record(sid, .playlistServed, at: time) }
                for number in players.indices {
                    try sendMedia(to: address, over: UInt64(isKept ? number : number + 100 * turn), at: time + 0.1)
                }
            }
        }
        #expect(fixture.report.joins == 60)
    }

    @Test("a player that joins many others counts soon, although others poll between its playlist and its first file")
    func amongOthers() throws {
        let players = try (0..<20).map { _ in try begin() }
        var late: String?
        for turn in 0..<10 {
            let time = Double(turn) * 2
            fixture.advance(to: time)
            if turn == 5 { late = try begin() }
            if let late { record(late, .playlistServed, at: time + 0.5) }
            for (number, sid) in players.enumerated() {
                record(sid, .playlistServed, at: time + 0.5 + Double(number) / 1000)
                if number == 10, late != nil { try sendMedia(over: 999, at: time + 0.515) }
                try sendMedia(over: UInt64(number), at: time + 0.52)
            }
        }
        #expect(fixture.report.joins == 21)
    }

    @Test("a connection moves to the next session of its client when the one before has stopped polling")
    func nextSession() throws {
        let first = try begin()
        record(first, .playlistServed, at: 0)
        try sendMedia(over: 7, at: 0.1)
        record(first, .playlistServed, at: 2)
        #expect(fixture.report.joins == 1)
        let second = try begin()
        for time in [9.0, 11] {
            fixture.advance(to: time)
            record(second, .playlistServed, at: time)
            try sendMedia(over: 7, at: time + 0.1)
        }
        #expect(fixture.report.joins == 2)
    }

    @Test("media of another room, another address or long ago qualifies no session")
    func elsewhere() throws {
        let sid = try begin()
        record(sid, .playlistServed, at: 0)
        try sendMedia(over: 1, at: 0.1, room: "other")
        try sendMedia(to: "192.0.2.2", over: 2, at: 0.1)
        try sendMedia(to: "192.0.2.2", over: nil, at: 0.1)
        record(sid, .playlistServed, at: 2)
        #expect(fixture.report.joins == 0)
        try sendMedia(to: "192.0.2.3", over: nil, at: 2)
        fixture.advance(to: 70)
        let late = try begin("192.0.2.3")
        record(late, .playlistServed, at: 70)
        record(late, .playlistServed, at: 72)
        #expect(fixture.report.joins == 0)
        try sendMedia(to: "192.0.2.3", over: nil, at: 72.5)
        record(late, .playlistServed, at: 74)
        #expect(fixture.report.joins == 1)
    }

    @Test("a file of a log, without a known connection, qualifies one session of its client")
    func loggedFiles() throws {
        let sids = try (0..<5).map { _ in try begin() }
        for _ in 0..<3 { try sendMedia(over: nil, at: 0) }
        for time in [0.0, 2, 4] { for sid in sids { record(sid, .playlistServed, at: time) } }
        #expect(fixture.report.joins == 3)
    }

    @Test(
        "files without a known connection qualify at most 128 sessions of a client in each room"
    )
    func mostFiles() throws {
        let fixture = LedgerFixture()
        let client = try #require(PeerAddress("192.0.2.1")).account
        let rooms = ["show", "other"]
        func send(_ files: Int, at seconds: Double) {
            for room in rooms {
                for _ in 0..<files {
                    fixture.ledger.mediaServed(in: room, to: client, over: nil, at: fixture.moment(seconds))
                }
            }
        }
        var sids: [(room: String, sid: String)] = []
        for room in rooms {
            fixture.ledger.roomBegan(room)
            for _ in 0..<200 {
                let request = PlayerRequest(userAgent: "x", address: "192.0.2.1")
                guard case .viewer(let sid) = fixture.ledger.admit(request, to: room) else { throw Refused() }
                sids.append((room, sid))
            }
        }
        func ask(at seconds: Double) {
            fixture.clock.advance(to: fixture.moment(seconds))
            for (room, sid) in sids {
                let event = AudienceEvent(
                    sid: sid,
                    room: room,
                    playback: .hls,
                    kind: .playlistServed,
                    at: fixture.clock.now,
                    isMediaSeen: true
                )
                fixture.ledger.record(event)
            }
        }
        send(1000, at: 0)
        for time in [0.0, 2, 4] { ask(at: time) }
        for room in rooms { #expect(fixture.ledger.report(room: room).joins == 128) }
        send(5, at: 5)
        ask(at: 6)
        fixture.advance(to: 120)
        for room in rooms {
            let report = fixture.ledger.report(room: room)
            #expect(report.joins == 133 && report.excluded[.noMedia] == 67, "\(room)")
        }
    }

    @Test(
        "a file qualifies no session after 62 seconds, also while others of its client play",
        arguments: [40.0, 61.5, 62.5, 64, 100]
    )
    func lifetime(seconds: Double) throws {
        let player = try begin()
        try sendMedia(over: nil, at: 0)
        var late: String?
        for half in 0...Int(seconds * 2) {
            let time = Double(half) / 2
            fixture.advance(to: time)
            if half % 4 == 1 {
                record(player, .playlistServed, at: time)
                record(player, .delivered, at: time)
            }
            if time == seconds - 2.5 { late = try begin() }
            if let late, time == seconds - 2.5 || time == seconds { record(late, .playlistServed, at: time) }
        }
        #expect(fixture.report.joins == (seconds <= 62 ? 2 : 1))
    }

    @Test("a session that was admitted through a shared address needs media once it polls here itself")
    func fromBehindMany() throws {
        var request = PlayerRequest(userAgent: "x", address: "198.51.100.1")
        request.isSharedAddress = true
        guard case .viewer(let sid) = fixture.ledger.admit(request, to: fixture.room) else { throw Refused() }
        for time in [0.0, 2.5, 5, 7.5] {
            fixture.advance(to: time)
            var own = PlayerRequest(sid: sid, userAgent: "x", address: "192.0.2.1")
            own.isMediaSeen = true
            #expect(fixture.ledger.admit(own, to: fixture.room) == .viewer(sid: sid))
            record(sid, .playlistServed, at: time)
        }
        #expect(fixture.report.joins == 0)
    }

    @Test("where a cache in front may send the media, playlists qualify a session")
    func cached() throws {
        let sid = try begin()
        record(sid, .playlistServed, at: 0, isMediaSeen: false)
        record(sid, .playlistServed, at: 2, isMediaSeen: false)
        #expect(fixture.report.concurrent == 1)
    }

    @Test("5,000 ids of one address count not at all with playlists alone, and up to the client limit with media")
    func manyIDs() throws {
        let sids = try (0..<5000).map { _ in try begin() }
        for time in [0.0, 2.5] { for sid in sids { record(sid, .playlistServed, at: time) } }
        #expect(fixture.report.concurrent == 0)
        for sid in sids { record(sid, .delivered, at: 2.6) }
        for sid in sids { record(sid, .playlistServed, at: 5) }
        #expect(fixture.report.concurrent == 100 && fixture.report.excluded[.surplus] == 4900)
        #expect(fixture.report.brokenIdentities.isEmpty)
    }

    @Test("5,000 ids of one address without media are all reported as without media, and none as surplus")
    func manyIDsAlone() throws {
        let sids = try (0..<5000).map { _ in try begin() }
        for time in [0.0, 2.5, 5] {
            fixture.advance(to: time)
            for sid in sids { record(sid, .playlistServed, at: time) }
        }
        #expect(fixture.report.unfiltered == 5000)
        fixture.advance(to: 60)
        #expect(fixture.report.joins == 0 && fixture.report.peak == 0 && fixture.report.unfiltered == 0)
        #expect(lackingMedia == 5000 && fixture.report.excluded[.surplus] == 0)
    }

    @Test(
        "unsigned session names need media too, unless reports alone are configured to count",
        arguments: [false, true]
    )
    func reports(alone: Bool) throws {
        var configuration = ViewershipConfiguration()
        configuration.countsReportsAlone = alone
        let fixture = LedgerFixture(configuration: configuration)
        fixture.ledger.roomBegan(fixture.room)
        let player = PlayerRequest(userAgent: "x", address: "192.0.2.1")
        func report(at seconds: Double) {
            fixture.advance(to: seconds)
            for name in ["one", "two"] {
                fixture.ledger.receive(
                    PlayerReport(CMCDItems(#"sta=p,sid="\#(name)",cid="show""#)),
                    room: nil,
                    from: player
                )
            }
        }
        for time in [0.0, 6, 12] { report(at: time) }
        #expect(fixture.report.concurrent == (alone ? 2 : 0))
        let client = try #require(PeerAddress("192.0.2.1")).account
        fixture.ledger.mediaServed(in: fixture.room, to: client, over: nil, at: fixture.clock.now)
        report(at: 18)
        #expect(fixture.report.concurrent == (alone ? 2 : 1))
    }
}
