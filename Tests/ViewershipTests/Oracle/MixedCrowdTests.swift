import Media
import Stage
import Testing

@testable import Viewership

/// Players that switch, that are placed late, that ask rarely, and such that only seem to play, each known beforehand.
private struct MixedCrowd {
    /// A way to break what the ledger hears: each must be found out.
    enum Mutation {
        case none
        /// Who goes on in another rendition comes with a new id.
        case newIDAtSwitch
        /// Who asks for playlists alone is told of as through a cache that may have served it.
        case unseenMedia
        /// Where a viewer is is told with the first request or never.
        case regionAtFirstOnly
        /// Every second playlist of those who ask rarely is not told.
        case lostRarePolls
    }

    struct Verdict: Equatable, CustomStringConvertible {
        var joins = 0
        var switches = 0
        var withoutMedia = 0
        /// Seconds watched in the country that is told four seconds late are those from then on.
        var placed = true
        /// Seconds watched by all, to a percent.
        var watched = true
        /// Seconds in which one of those who ask rarely, and is known to, did not count.
        var absences = 0
        var identities: [String] = []

        var description: String {
            "joins \(joins), switches \(switches), without media \(withoutMedia), placed \(placed), watched \(watched), "
                + "absences \(absences), \(identities)"
        }
    }

    private enum Kind: CaseIterable {
        case flv
        case hls
        case rare
        case playlistsAlone
    }

    private struct Player {
        var kind: Kind
        var number: Int
        var join: Double
        var leave: Double
        var interval = 2.0
        /// When it goes on in another rendition.
        var switches: [Double] = []

        var polls: [Double] { Array(stride(from: join, through: leave, by: interval)) }

        /// Of who asks: half a playlist beyond the last one, and never longer than its buffer lasts.
        var watched: Double {
            guard kind != .flv else { return leave - join }
            return Double(polls.count - 1) * min(interval, 22) + min(interval / 2, 22)
        }
    }

    private let players: [Player]
    private static let length = 700.0

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        players = (0..<200).map { number in
            let kind = Kind.allCases[number % 4]
            let join = Double.random(in: 0...150, using: &random)
            var player = Player(kind: kind, number: number, join: join, leave: join)
            switch kind {
            case .flv:
                player.leave += .random(in: 30...400, using: &random)
                player.switches = Array(
                    stride(from: join + .random(in: 6...40, using: &random), to: player.leave - 1, by: 23)
                )
            case .hls, .playlistsAlone: player.leave += .random(in: 30...400, using: &random)
            case .rare:
                player.interval = [13, 15][number / 4 % 2]
                player.leave += .random(in: 300...450, using: &random)
            }
            return player
        }
    }

    func judge(_ mutation: Mutation = .none) -> Verdict {
        let stand = Stand()
        stand.ledger.roomBegan(stand.room)
        var events: [(at: Double, body: () -> Void)] = []
        for player in players {
            player.kind == .flv
                ? add(player, to: &events, stand, mutation)
                : addPolls(of: player, to: &events, stand, mutation)
        }
        var verdict = Verdict()
        var rest = events.sorted { $0.at < $1.at }[...]
        for second in 0...Int(Self.length) + 100 {
            while let event = rest.first, event.at <= Double(second) {
                rest.removeFirst()
                event.body()
            }
            stand.advance(to: Double(second))
            verdict.identities += stand.report.brokenIdentities
            let rare = players.count { player in
                // From its fourth playlist on it is known how rarely it asks.
                player.kind == .rare && player.polls.count > 3 && player.polls[3] + 1 < Double(second)
                    && Double(second) < player.polls[player.polls.count - 1]
            }
            let others = players.count { player in
                let proof = player.kind == .flv ? player.join + 5 : player.join + 2
                return (player.kind == .flv || player.kind == .hls) && proof + 0.5 < Double(second)
                    && Double(second) < player.leave - 2.5
            }
            verdict.absences += max(0, rare + others - stand.report.concurrent)
        }
        let real = players.filter { $0.kind != .playlistsAlone }
        let report = stand.report
        verdict.joins = report.joins - real.count
        verdict.switches = report.switches - players.map(\.switches.count).reduce(0, +)
        verdict.withoutMedia = (report.excluded[.noMedia] ?? 0) - (players.count - real.count)
        let all = real.map(\.watched).reduce(0, +)
        verdict.watched = abs(report.watchTimeSeconds / all - 1) < 0.01
        let placed = real.filter { $0.kind == .hls }.map { $0.watched - 4 }.reduce(0, +)
        let samples = stand.ledger.metrics().first { $0.name == "footlight_viewer_watch_seconds_total" }?.samples ?? []
        let told = samples.filter { $0.labels.contains { $0.value == "DE" } }.map(\.value).reduce(0, +)
        verdict.placed = abs(told / placed - 1) < 0.02
        return verdict
    }

    private func add(
        _ player: Player,
        to events: inout [(at: Double, body: () -> Void)],
        _ stand: Stand,
        _ mutation: Mutation
    ) {
        final class Session { var sid = "" }
        let session = Session()
        func tell(_ kind: AudienceEvent.Kind, at seconds: Double, _ rendition: Int) {
            let name = rendition.isMultiple(of: 2) ? "720p" : "360p"
            stand.record(session.sid, kind, at: seconds, by: .flv, rendition: name)
        }
        let begins = [player.join] + player.switches
        for (number, begin) in begins.enumerated() {
            let end = number + 1 < begins.count ? begins[number + 1] : player.leave
            events.append(
                (
                    begin,
                    {
                        if number == 0 || mutation == .newIDAtSwitch {
                            session.sid = stand.ledger.makeSession(room: stand.room)
                        }
                        tell(.opened, at: begin, number)
                    }
                )
            )
            if end - begin > 5 {
                let since = AudienceEvent.Kind.watched(since: stand.moment(begin))
                events.append((begin + 5, { tell(since, at: begin + 5, number) }))
            }
            events.append((end - 0.0005, { tell(.closed(.left), at: end - 0.0005, number) }))
        }
    }

    private func addPolls(
        of player: Player,
        to events: inout [(at: Double, body: () -> Void)],
        _ stand: Stand,
        _ mutation: Mutation
    ) {
        final class Session { var sid: String? }
        let session = Session()
        for (turn, poll) in player.polls.enumerated() {
            if mutation == .lostRarePolls, player.kind == .rare, turn % 2 == 1 { continue }
            events.append(
                (
                    poll,
                    {
                        stand.clock.move(to: max(stand.clock.now, stand.moment(poll)))
                        var request = PlayerRequest(
                            sid: session.sid,
                            userAgent: "x",
                            address: "192.0.2.\(player.number)"
                        )
                        request.isMediaSeen = mutation != .unseenMedia
                        // Somebody who knows it says so from the third request on.
                        if player.kind == .hls, mutation != .regionAtFirstOnly, turn > 1 { request.region = "DE" }
                        guard case .viewer(let sid) = stand.ledger.admit(request, to: stand.room) else { return }
                        session.sid = sid
                        func tell(_ kind: AudienceEvent.Kind, at seconds: Double) {
                            stand.ledger.record(
                                AudienceEvent(
                                    sid: sid,
                                    room: stand.room,
                                    playback: .hls,
                                    kind: kind,
                                    at: stand.moment(seconds),
                                    isMediaSeen: request.isMediaSeen
                                )
                            )
                        }
                        tell(.playlistServed, at: poll)
                        if player.kind != .playlistsAlone { tell(.delivered, at: poll) }
                    }
                )
            )
        }
    }
}

@Suite("A crowd of all sorts whose truth is known")
struct MixedCrowdTests {
    @Test(
        "who switches, is placed late or asks rarely counts once and all the time; playlists alone make nobody",
        arguments: [1, 2, 3] as [UInt64]
    )
    func crowd(seed: UInt64) {
        #expect(MixedCrowd(seed: seed).judge() == MixedCrowd.Verdict())
    }

    @Test("a fault in what is told is found out by the rule that it breaks")
    func mutants() {
        let crowd = MixedCrowd(seed: 4)
        let newID = crowd.judge(.newIDAtSwitch)
        #expect(newID.joins > 0 && newID.switches < 0)
        let unseen = crowd.judge(.unseenMedia)
        #expect(unseen.joins > 0 && unseen.withoutMedia < 0)
        #expect(!crowd.judge(.regionAtFirstOnly).placed)
        #expect(crowd.judge(.lostRarePolls).absences > 0)
    }
}
