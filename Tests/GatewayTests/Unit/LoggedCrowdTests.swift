import FanOut
import FootlightTesting
import Foundation
import Media
import NIOCore
import Stage
import Testing
import Viewership

/// A crowd behind a content network whose log comes late, in any order, and more than once.
///
/// All of it runs on a clock that is moved by hand; the truth is the players' own.
@Suite("A crowd behind a content network with a bad log")
struct LoggedCrowdTests {
    /// How the log comes.
    struct Manner: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// Seconds between a request and its line, of most lines; grows evenly to the second one.
        var lateness: ClosedRange<Double> = 0...0
        var growth = 0.0
        /// Part of the lines that come 8 to 25 seconds late.
        var slow = 0.0
        /// Whether every second bundle is pushed again.
        var isRepeated = false
        /// The very first line comes a minute late.
        var hasSlowestFirst = false
        /// The log tells of media too; and there are some who ask for playlists alone.
        var hasMedia = false
    }

    private struct Player {
        var sid: String
        var country: String
        var join: Double
        var leave: Double
        var polls: [(second: Double, rendition: String)] = []
    }

    private static let start = Date(timeIntervalSince1970: 1_700_000_000)
    private static let length = 600.0
    private let clock = ManualClock()
    private let ledger: ViewershipLedger

    init() {
        ledger = ViewershipLedger(
            keys: SessionKeys(current: SessionKey(version: 1, secret: Array(1...32))),
            clock: clock,
            configuration: .init(),
            startDate: Self.start
        )
        ledger.keepHistory()
        ledger.roomBegan("show")
    }

    /// What the ledger gave to the history.
    private struct Written {
        var sessions: [UInt64: SessionRow] = [:]
        var gaps: [GapRow] = []

        mutating func take(_ batch: HistoryBatch) {
            for row in batch.sessions.values { sessions[row.code] = row }
            gaps += batch.gaps
        }

        /// The most at once, by the beginnings and ends of the sessions.
        var peak: Int? {
            var peaks = SettledPeaks()
            for row in sessions.values {
                guard let end = row.end else { return nil }
                let away = gaps.filter { $0.code == row.code }.sorted { $0.from < $1.from }
                peaks.add(from: row.start, to: end, dimensions: row.dimensions, gaps: away)
            }
            return peaks.found()[nil]?.viewers
        }
    }

    /// The most who truly watched at once, each half a poll beyond its last.
    private static func peak(of players: [Player]) -> Int {
        let ends = players.map { ($0.join, ($0.polls.last?.second ?? 0) + 1) }
        let moves = ends.flatMap { [($0.0, 1), ($0.1, -1)] }.sorted { ($0.0, $0.1) < ($1.0, $1.1) }
        var (live, peak) = (0, 0)
        for move in moves {
            live += move.1
            peak = max(peak, live)
        }
        return peak
    }

    /// - Parameter firstSwitch: Playlists before which nobody switches.
    private func crowd(_ random: inout Chance, firstSwitch: Int) -> [Player] {
        (0..<240).map { number in
            let join = random.number(in: 5...300)
            let country = ["DE", "FR", "US", ""][number % 4]
            var player = Player(sid: "", country: country, join: join, leave: join + random.number(in: 30...250))
            var rendition = "720p"
            var second = join
            while second <= player.leave {
                player.polls.append((second, rendition))
                let isSwitching = random.number(in: 0...1) < 0.02 && player.polls.count > firstSwitch
                if isSwitching { rendition = rendition == "720p" ? "360p" : "720p" }
                second += 2
            }
            return player
        }
    }

    /// Fifteen who ask for playlists alone, at addresses behind those of the crowd.
    private static let lurkers = (240..<255).map { number in
        let join = Double(number - 236) * 10.5
        var lurker = Player(sid: "", country: "", join: join, leave: join + Double(number) / 3)
        lurker.polls = stride(from: join, through: lurker.leave, by: 2).map { ($0, "720p") }
        return lurker
    }

    /// A media file that a player was sent.
    private func file(_ number: Int, at second: Double) -> String {
        let time = Self.start.timeIntervalSince1970 + second
        return
            #"{"uri":"/live/show/1x9/s\#(Int(second * 4)).m4s","status":200,"time":\#(time),"ip":"192.0.2.\#(number)"}"#
    }

    private func line(_ player: Player, _ poll: (second: Double, rendition: String), _ number: Int) -> String {
        let time = Self.start.timeIntervalSince1970 + poll.second
        let country = player.country.isEmpty ? "" : #","country":"\#(player.country)""#
        return
            #"{"uri":"/live/show/\#(poll.rendition).m3u8?sid=\#(player.sid)","status":200,"time":\#(time),"ip":"192.0.2.\#(number)","user_agent":"VLC/3.0"\#(country)}"#
    }

    @Test(
        "joins, watch time, switches and regions are those of the players",
        arguments: [
            Manner(testDescription: "at once"),
            Manner(
                testDescription: "up to eight seconds late, some much later, half of it twice",
                lateness: 0...8,
                slow: 0.03,
                isRepeated: true
            ),
            Manner(testDescription: "later and later", growth: 6),
            Manner(testDescription: "the slowest line first", lateness: 0...8, hasSlowestFirst: true),
            Manner(
                testDescription: "all of it",
                lateness: 0...8,
                growth: 6,
                slow: 0.03,
                isRepeated: true,
                hasSlowestFirst: true
            ),
            Manner(testDescription: "at once, with media", hasMedia: true),
            Manner(testDescription: "up to eight seconds late, with media", lateness: 0...8, hasMedia: true),
        ]
    )
    func figures(manner: Manner) async throws {
        var random = Chance(state: 7)
        let logs = AudienceLogs(
            audience: ledger,
            clock: clock,
            wall: { [clock] in
                Self.start.addingTimeInterval(clock.now.seconds(since: MonotonicTime(nanoseconds: 1_000_000_000)))
            },
            isOn: { $0 == "show" }
        )
        // Who is proven by its media may be proven some playlists later.
        var players = crowd(&random, firstSwitch: manner.hasMedia ? 30 : 0)
        let lurkers = manner.hasMedia ? Self.lurkers : []
        players += lurkers
        var written = Written()
        // When each line comes to the log, and the line.
        var arrivals: [(second: Double, line: String)] = []
        var bundles: [(second: Double, body: String)] = []
        var isFirst = true
        for second in 1...Int(Self.length) {
            clock.advance(by: .seconds(1))
            let now = Double(second)
            // The network asks for `index.m3u8`, for all of them from one address.
            for number in players.indices where players[number].join.rounded(.down) == now {
                var request = PlayerRequest(userAgent: "VLC/3.0", address: "198.51.100.1")
                request.isOfMany = true
                guard case .viewer(let sid) = ledger.admit(request, to: "show") else {
                    Issue.record("\(number) is no viewer")
                    return
                }
                players[number].sid = sid
                for poll in players[number].polls {
                    var late = random.number(in: manner.lateness) + manner.growth * poll.second / Self.length
                    if random.number(in: 0...1) < manner.slow { late += random.number(in: 8...25) }
                    if isFirst, manner.hasSlowestFirst { late = 60 }
                    isFirst = false
                    arrivals.append((max(poll.second + late, now), line(players[number], poll, number)))
                    guard manner.hasMedia, number < 240 else { continue }
                    let sent = poll.second + 0.25
                    let comes = sent + random.number(in: manner.lateness)
                    arrivals.append((max(comes, now), file(number, at: sent)))
                }
            }
            // Two servers of the network push bundles of their own.
            for every in [7, 11] where second % every == 0 {
                let isDue = { (line: String) in line.utf8.reduce(0) { $0 &+ Int($1) } % 2 == (every == 7 ? 0 : 1) }
                let due = arrivals.filter { $0.second <= now && isDue($0.line) }
                arrivals.removeAll { $0.second <= now && isDue($0.line) }
                let body = due.map(\.line).shuffled(using: &random).joined(separator: "\n")
                bundles.append((now, body))
                if manner.isRepeated, bundles.count % 2 == 0 { bundles.append((now + 5, body)) }
            }
            for bundle in bundles where bundle.second <= now {
                let receipt = try await logs.take(ByteBuffer(string: bundle.body), of: "cdn")
                #expect(receipt.late == 0 && receipt.dropped == 0 && receipt.malformed == 0)
            }
            bundles.removeAll { $0.second <= now }
            logs.advance()
            ledger.advance(to: clock.now)
            written.take(ledger.takeHistory())
        }
        for _ in 0..<200 {
            clock.advance(by: .seconds(1))
            logs.advance()
            ledger.advance(to: clock.now)
            written.take(ledger.takeHistory())
        }
        players.removeLast(lurkers.count)
        let report = ledger.report(room: "show")
        #expect(report.excluded[.noMedia] == lurkers.count)
        #expect(report.joins == 240 && report.leaves == 240 && report.concurrent == 0)
        let (peak, truePeak) = (try #require(written.peak), Self.peak(of: players))
        #expect(abs(peak - truePeak) <= 1, "the settled peak is \(peak), and truly \(truePeak)")
        // Half a poll beyond the last one.
        let watched = players.reduce(0) { $0 + ($1.polls.last?.second ?? 0) - $1.join + 1 }
        let error = report.watchTimeSeconds / watched - 1
        #expect(abs(error) < 0.002, "watch time is wrong by \(error * 100) %")
        // From its second playlist on somebody is proven to watch, and can switch.
        let switches = players.reduce(0) { sum, player in
            sum + zip(player.polls.dropFirst(), player.polls.dropFirst(2)).count { $0.rendition != $1.rendition }
        }
        #expect(report.switches == switches)
        #expect(report.uniques.estimated == 240)
        if manner.isRepeated { #expect(logs.total.repeated > 1000) }
        let joins = ledger.metrics().first { $0.name == "footlight_viewer_watch_seconds_total" }
        let regions = Set(joins?.samples.compactMap { $0.labels.first { $0.name == "region" }?.value } ?? [])
        #expect(regions == ["DE", "FR", "US"])
        let german = joins?.samples.filter { $0.labels.contains { $0.value == "DE" } }.reduce(0) { $0 + $1.value } ?? 0
        let trulyGerman = players.filter { $0.country == "DE" }
            .reduce(0) { $0 + ($1.polls.last?.second ?? 0) - $1.join + 1 }
        #expect(abs(german / trulyGerman - 1) < 0.002)
    }
}

/// Numbers that look random and are the same each time.
private struct Chance: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }

    mutating func number(in range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &self) }
}
