import Media
import Stage
import Testing

@testable import Viewership

/// Where media requests are seen, nobody makes an audience with playlists alone.
@Suite("Media that proves a session")
struct MediaProofTests {
    private let stand: Stand

    init() {
        // Each client may have as many unproven sessions as it likes; it is media that is asked for here.
        stand = Stand(configuration: ViewershipConfiguration(unprovenPerClient: nil, viewersPerClient: 100))
        stand.ledger.roomBegan(stand.room)
        stand.ledger.roomBegan("other")
    }

    private func begin(_ address: String = "192.0.2.1", room: String = "show") throws -> String {
        let request = PlayerRequest(userAgent: "x", address: address)
        guard case .viewer(let sid) = stand.ledger.admit(request, to: room) else { throw Refused() }
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
        let at = stand.moment(seconds)
        if at > stand.clock.now { stand.clock.move(to: at) }
        stand.ledger.record(
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
        stand.ledger.mediaServed(in: room, to: client, over: connection, at: stand.moment(seconds))
    }

    private var lackingMedia: Int { stand.report.excluded[.noMedia] ?? 0 }

    @Test("who asks for playlists alone never counts, and is said to have had no media")
    func playlistsAlone() throws {
        let sid = try begin()
        for second in stride(from: 0.0, through: 60, by: 2) {
            stand.advance(to: second)
            record(sid, .playlistServed, at: second)
            #expect(stand.report.concurrent == 0)
        }
        stand.advance(to: 120)
        #expect(stand.report.joins == 0 && stand.report.watchTimeSeconds == 0 && lackingMedia == 1)
        #expect(stand.report.unfiltered == 0 && stand.report.uniques.devices == 0)
    }

    @Test("media on the connection of its playlists makes it a viewer from its first playlist on")
    func ownConnection() throws {
        let sid = try begin()
        record(sid, .playlistServed, at: 0)
        record(sid, .delivered, at: 0.1)
        record(sid, .playlistServed, at: 2)
        #expect(stand.report.concurrent == 1 && stand.report.watchTimeSeconds == 2)
    }

    @Test("media on another connection belongs to whoever of the client was the last to be answered a playlist")
    func otherConnection() throws {
        let (first, second) = (try begin(), try begin())
        record(first, .playlistServed, at: 0)
        record(second, .playlistServed, at: 0.5)
        try sendMedia(over: 7, at: 0.6)
        record(first, .playlistServed, at: 2.1)
        #expect(stand.report.concurrent == 0)
        record(second, .playlistServed, at: 2.6)
        #expect(stand.report.concurrent == 1)
        // The connection is that one's from now on, whoever asks in between.
        for turn in 2...20 {
            let time = Double(turn) * 2
            stand.advance(to: time)
            record(second, .playlistServed, at: time + 0.5)
            record(first, .playlistServed, at: time + 0.55)
            try sendMedia(over: 7, at: time + 0.6)
        }
        #expect(stand.report.concurrent == 1 && stand.report.joins == 1)
    }

    @Test("a player that opens a connection for each file is one viewer, and those who ask beside it none")
    func connectionForEachFile() throws {
        let player = try begin()
        let others = try (0..<40).map { _ in try begin() }
        for turn in 0..<30 {
            let time = Double(turn) * 2
            stand.advance(to: time)
            for (number, sid) in others.enumerated() { record(sid, .playlistServed, at: time + Double(number) / 50) }
            record(player, .playlistServed, at: time + 0.9)
            try sendMedia(over: UInt64(turn), at: time + 0.91)
        }
        #expect(stand.report.joins == 1)
        stand.advance(to: 200)
        #expect(lackingMedia == 40)
    }

    @Test(
        "of those who ask beside players that open a connection for each segment, no more count than there are players"
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
            stand.advance(to: event.at)
            try event.body()
        }
        // Who asks between a player's first playlist and its first files is taken for it.
        #expect((2...4).contains(stand.report.joins))
    }

    @Test("players of one address that all ask at one moment, and then all fetch, are as many as they are")
    func atOneMoment() throws {
        for isKept in [true, false] {
            let address = isKept ? "192.0.2.7" : "192.0.2.8"
            let players = try (0..<30).map { _ in try begin(address) }
            for turn in 0..<4 {
                let time = (isKept ? 0 : 10) + Double(turn) * 2
                stand.advance(to: time)
                for sid in players { record(sid, .playlistServed, at: time) }
                for number in players.indices {
                    try sendMedia(to: address, over: UInt64(isKept ? number : number + 100 * turn), at: time + 0.1)
                }
            }
        }
        #expect(stand.report.joins == 60)
    }

    @Test("who comes to many that play counts soon, though others ask between its playlist and its first file")
    func amongOthers() throws {
        let players = try (0..<20).map { _ in try begin() }
        var late: String?
        for turn in 0..<10 {
            let time = Double(turn) * 2
            stand.advance(to: time)
            if turn == 5 { late = try begin() }
            if let late { record(late, .playlistServed, at: time + 0.5) }
            for (number, sid) in players.enumerated() {
                record(sid, .playlistServed, at: time + 0.5 + Double(number) / 1000)
                if number == 10, late != nil { try sendMedia(over: 999, at: time + 0.515) }
                try sendMedia(over: UInt64(number), at: time + 0.52)
            }
        }
        #expect(stand.report.joins == 21)
    }

    @Test("a connection goes on to the next session of its client when the one before has stopped to ask")
    func nextSession() throws {
        let first = try begin()
        record(first, .playlistServed, at: 0)
        try sendMedia(over: 7, at: 0.1)
        record(first, .playlistServed, at: 2)
        #expect(stand.report.joins == 1)
        let second = try begin()
        for time in [9.0, 11] {
            stand.advance(to: time)
            record(second, .playlistServed, at: time)
            try sendMedia(over: 7, at: time + 0.1)
        }
        #expect(stand.report.joins == 2)
    }

    @Test("media of another room, or that another address was sent, proves nobody; nor does it when it is long ago")
    func elsewhere() throws {
        let sid = try begin()
        record(sid, .playlistServed, at: 0)
        try sendMedia(over: 1, at: 0.1, room: "other")
        try sendMedia(to: "192.0.2.2", over: 2, at: 0.1)
        try sendMedia(to: "192.0.2.2", over: nil, at: 0.1)
        record(sid, .playlistServed, at: 2)
        #expect(stand.report.joins == 0)
        try sendMedia(to: "192.0.2.3", over: nil, at: 2)
        stand.advance(to: 70)
        let late = try begin("192.0.2.3")
        record(late, .playlistServed, at: 70)
        record(late, .playlistServed, at: 72)
        #expect(stand.report.joins == 0)
        try sendMedia(to: "192.0.2.3", over: nil, at: 72.5)
        record(late, .playlistServed, at: 74)
        #expect(stand.report.joins == 1)
    }

    @Test("a file of a log, whose connection nobody knows, proves one session of its client")
    func loggedFiles() throws {
        let sids = try (0..<5).map { _ in try begin() }
        for _ in 0..<3 { try sendMedia(over: nil, at: 0) }
        for time in [0.0, 2, 4] { for sid in sids { record(sid, .playlistServed, at: time) } }
        #expect(stand.report.joins == 3)
    }

    @Test(
        "files whose connection nobody knows prove 128 sessions of a client in each room, however many files there are"
    )
    func mostFiles() throws {
        let stand = Stand()
        let client = try #require(PeerAddress("192.0.2.1")).account
        let rooms = ["show", "other"]
        func send(_ files: Int, at seconds: Double) {
            for room in rooms {
                for _ in 0..<files {
                    stand.ledger.mediaServed(in: room, to: client, over: nil, at: stand.moment(seconds))
                }
            }
        }
        var sids: [(room: String, sid: String)] = []
        for room in rooms {
            stand.ledger.roomBegan(room)
            for _ in 0..<200 {
                let request = PlayerRequest(userAgent: "x", address: "192.0.2.1")
                guard case .viewer(let sid) = stand.ledger.admit(request, to: room) else { throw Refused() }
                sids.append((room, sid))
            }
        }
        func ask(at seconds: Double) {
            stand.clock.move(to: stand.moment(seconds))
            for (room, sid) in sids {
                let event = AudienceEvent(
                    sid: sid,
                    room: room,
                    playback: .hls,
                    kind: .playlistServed,
                    at: stand.clock.now,
                    isMediaSeen: true
                )
                stand.ledger.record(event)
            }
        }
        send(1000, at: 0)
        for time in [0.0, 2, 4] { ask(at: time) }
        for room in rooms { #expect(stand.ledger.report(room: room).joins == 128) }
        send(5, at: 5)
        ask(at: 6)
        stand.advance(to: 120)
        for room in rooms {
            let report = stand.ledger.report(room: room)
            #expect(report.joins == 133 && report.excluded[.noMedia] == 67, "\(room)")
        }
    }

    @Test(
        "a file proves nobody more than 62 seconds later, also where others of its client ask and play all the time",
        arguments: [40.0, 61.5, 62.5, 64, 100]
    )
    func lifetime(seconds: Double) throws {
        let player = try begin()
        try sendMedia(over: nil, at: 0)
        var late: String?
        for half in 0...Int(seconds * 2) {
            let time = Double(half) / 2
            stand.advance(to: time)
            if half % 4 == 1 {
                record(player, .playlistServed, at: time)
                record(player, .delivered, at: time)
            }
            if time == seconds - 2.5 { late = try begin() }
            if let late, time == seconds - 2.5 || time == seconds { record(late, .playlistServed, at: time) }
        }
        #expect(stand.report.joins == (seconds <= 62 ? 2 : 1))
    }

    @Test("who was let in through a server that stands for many needs media as soon as it asks here itself")
    func fromBehindMany() throws {
        var request = PlayerRequest(userAgent: "x", address: "198.51.100.1")
        request.isOfMany = true
        guard case .viewer(let sid) = stand.ledger.admit(request, to: stand.room) else { throw Refused() }
        for time in [0.0, 2.5, 5, 7.5] {
            stand.advance(to: time)
            var own = PlayerRequest(sid: sid, userAgent: "x", address: "192.0.2.1")
            own.isMediaSeen = true
            #expect(stand.ledger.admit(own, to: stand.room) == .viewer(sid: sid))
            record(sid, .playlistServed, at: time)
        }
        #expect(stand.report.joins == 0)
    }

    @Test("where media may come out of a cache in front, playlists prove a session as before")
    func cached() throws {
        let sid = try begin()
        record(sid, .playlistServed, at: 0, isMediaSeen: false)
        record(sid, .playlistServed, at: 2, isMediaSeen: false)
        #expect(stand.report.concurrent == 1)
    }

    @Test("5000 ids of one address are nobody with playlists alone, and as many as one address may be with media each")
    func manyIDs() throws {
        let sids = try (0..<5000).map { _ in try begin() }
        for time in [0.0, 2.5] { for sid in sids { record(sid, .playlistServed, at: time) } }
        #expect(stand.report.concurrent == 0)
        for sid in sids { record(sid, .delivered, at: 2.6) }
        for sid in sids { record(sid, .playlistServed, at: 5) }
        #expect(stand.report.concurrent == 100 && stand.report.excluded[.surplus] == 4900)
        #expect(stand.report.brokenIdentities.isEmpty)
    }

    @Test("5000 ids of one address that never fetch media have all lacked it in the end, and none was too many")
    func manyIDsAlone() throws {
        let sids = try (0..<5000).map { _ in try begin() }
        for time in [0.0, 2.5, 5] {
            stand.advance(to: time)
            for sid in sids { record(sid, .playlistServed, at: time) }
        }
        #expect(stand.report.unfiltered == 5000)
        stand.advance(to: 60)
        #expect(stand.report.joins == 0 && stand.report.peak == 0 && stand.report.unfiltered == 0)
        #expect(lackingMedia == 5000 && stand.report.excluded[.surplus] == 0)
    }

    @Test(
        "names that players make up need media as well, unless the operator takes their reports alone",
        arguments: [false, true]
    )
    func reports(alone: Bool) throws {
        var configuration = ViewershipConfiguration()
        configuration.countsReportsAlone = alone
        let stand = Stand(configuration: configuration)
        stand.ledger.roomBegan(stand.room)
        let player = PlayerRequest(userAgent: "x", address: "192.0.2.1")
        func report(at seconds: Double) {
            stand.advance(to: seconds)
            for name in ["one", "two"] {
                stand.ledger.take(PlayerReport(CMCDItems(#"sta=p,sid="\#(name)",cid="show""#)), room: nil, from: player)
            }
        }
        for time in [0.0, 6, 12] { report(at: time) }
        #expect(stand.report.concurrent == (alone ? 2 : 0))
        let client = try #require(PeerAddress("192.0.2.1")).account
        stand.ledger.mediaServed(in: stand.room, to: client, over: nil, at: stand.clock.now)
        report(at: 18)
        #expect(stand.report.concurrent == (alone ? 2 : 1))
    }
}
