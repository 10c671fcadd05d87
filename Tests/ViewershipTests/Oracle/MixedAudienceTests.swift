import FootlightTesting
import Media
import Stage
import TestSupport
import Testing

@testable import Viewership

/// Simulated players with a known ground truth: switches, late regions, rare polling, and playlists without media.
private struct MixedAudience {
    /// A fault in the input of the ledger, which the verdict must detect.
    enum Mutation {
        case none
        /// A switch comes with a new id.
        case newIDAtSwitch
        /// Playlists without media are reported as through a cache that may have sent it.
        case unseenMedia
        /// The region is in the first request or absent.
        case regionAtFirstOnly
        /// Every second playlist of rare polling is lost.
        case lostRarePolls
    }

    struct Verdict: Equatable, CustomStringConvertible {
        var joins = 0
        var switches = 0
        var withoutMedia = 0
        /// Whether watch time counts in a region from its first mention on.
        var placed = true
        /// Whether the total watch time is exact to one percent.
        var watched = true
        /// Seconds in which a known rare player did not count.
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
        /// The times of rendition switches.
        var switches: [Double] = []

        var polls: [Double] { Array(stride(from: join, through: leave, by: interval)) }

        /// Of polling players half an interval beyond the last poll, and never longer than the buffer lasts.
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
        let fixture = LedgerFixture()
        fixture.ledger.roomBegan(fixture.room)
        var events: [(at: Double, body: () -> Void)] = []
        for player in players {
            player.kind == .flv
                ? add(player, to: &events, fixture, mutation)
                : addPolls(of: player, to: &events, fixture, mutation)
        }
        var verdict = Verdict()
        var rest = events.sorted { $0.at < $1.at }[...]
        for second in 0...Int(Self.length) + 100 {
            while let event = rest.first, event.at <= Double(second) {
                rest.removeFirst()
                event.body()
            }
            fixture.advance(to: Double(second))
            verdict.identities += fixture.report.brokenIdentities
            let rare = players.count { player in
                // The interval is known from the fourth playlist on.
                player.kind == .rare && player.polls.count > 3 && player.polls[3] + 1 < Double(second)
                    && Double(second) < player.polls[player.polls.count - 1]
            }
            let others = players.count { player in
                let proof = player.kind == .flv ? player.join + 5 : player.join + 2
                return (player.kind == .flv || player.kind == .hls) && proof + 0.5 < Double(second)
                    && Double(second) < player.leave - 2.5
            }
            verdict.absences += max(0, rare + others - fixture.report.concurrent)
        }
        let real = players.filter { $0.kind != .playlistsAlone }
        let report = fixture.report
        verdict.joins = report.joins - real.count
        verdict.switches = report.counts.switches - players.map(\.switches.count).reduce(0, +)
        verdict.withoutMedia = (report.excluded[.noMedia] ?? 0) - (players.count - real.count)
        let all = real.map(\.watched).reduce(0, +)
        verdict.watched = abs(report.watchTimeSeconds / all - 1) < 0.01
        let placed = real.filter { $0.kind == .hls }.map { $0.watched - 4 }.reduce(0, +)
        let samples =
            fixture.ledger.metrics().first { $0.name == "footlight_viewer_watch_seconds_total" }?.samples ?? []
        let placedSeconds = samples.filter { $0.labels.contains { $0.value == "DE" } }.map(\.value).reduce(0, +)
        verdict.placed = abs(placedSeconds / placed - 1) < 0.02
        return verdict
    }

    private func add(
        _ player: Player,
        to events: inout [(at: Double, body: () -> Void)],
        _ fixture: LedgerFixture,
        _ mutation: Mutation
    ) {
        final class Session { var sid = "" }
        let session = Session()
        func record(_ kind: AudienceEvent.Kind, at seconds: Double, _ rendition: Int) {
            let name = rendition.isMultiple(of: 2) ? "720p" : "360p"
            fixture.record(session.sid, kind, at: seconds, by: .flv, rendition: name)
        }
        let begins = [player.join] + player.switches
        for (number, begin) in begins.enumerated() {
            let end = number + 1 < begins.count ? begins[number + 1] : player.leave
            events.append(
                (
                    begin,
                    {
                        if number == 0 || mutation == .newIDAtSwitch {
                            session.sid = fixture.ledger.makeSession(room: fixture.room)
                        }
                        record(.opened, at: begin, number)
                    }
                )
            )
            if end - begin > 5 {
                let since = AudienceEvent.Kind.watched(since: fixture.moment(begin))
                events.append((begin + 5, { record(since, at: begin + 5, number) }))
            }
            events.append((end - 0.0005, { record(.closed(.left), at: end - 0.0005, number) }))
        }
    }

    private func addPolls(
        of player: Player,
        to events: inout [(at: Double, body: () -> Void)],
        _ fixture: LedgerFixture,
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
                        fixture.clock.advance(to: max(fixture.clock.now, fixture.moment(poll)))
                        var request = PlayerRequest(
                            sid: session.sid,
                            userAgent: "x",
                            address: "192.0.2.\(player.number)"
                        )
                        request.isMediaSeen = mutation != .unseenMedia
                        // A proxy adds the region from the third request on.
                        if player.kind == .hls, mutation != .regionAtFirstOnly, turn > 1 { request.region = "DE" }
                        guard case .viewer(let sid) = fixture.ledger.admit(request, to: fixture.room) else { return }
                        session.sid = sid
                        func record(_ kind: AudienceEvent.Kind, at seconds: Double) {
                            fixture.ledger.record(
                                AudienceEvent(
                                    sid: sid,
                                    room: fixture.room,
                                    playback: .hls,
                                    kind: kind,
                                    at: fixture.moment(seconds),
                                    isMediaSeen: request.isMediaSeen
                                )
                            )
                        }
                        record(.playlistServed, at: poll)
                        if player.kind != .playlistsAlone { record(.delivered, at: poll) }
                    }
                )
            )
        }
    }
}

@Suite("A mixed audience with ground truth", .enabled(if: TestRun.isFull))
struct MixedAudienceTests {
    @Test(
        "players that switch, get a late region or poll rarely count once and always; playlists alone count no viewer",
        arguments: [1, 2, 3] as [UInt64]
    )
    func audience(seed: UInt64) {
        #expect(MixedAudience(seed: seed).judge() == MixedAudience.Verdict())
    }

    @Test("each fault in the input is detected by the rule that it breaks")
    func mutants() {
        let audience = MixedAudience(seed: 4)
        let newID = audience.judge(.newIDAtSwitch)
        #expect(newID.joins > 0 && newID.switches < 0)
        let withoutMedia = audience.judge(.unseenMedia)
        #expect(withoutMedia.joins > 0 && withoutMedia.withoutMedia < 0)
        #expect(!audience.judge(.regionAtFirstOnly).placed)
        #expect(audience.judge(.lostRarePolls).absences > 0)
    }
}
