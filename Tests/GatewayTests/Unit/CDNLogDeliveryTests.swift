import FanOut
import FootlightTesting
import Foundation
import Media
import NIOCore
import Stage
import TestSupport
import Testing
import Viewership

/// Players behind a content network whose log arrives late, unordered and repeated.
///
/// The clock is a manual one; the expected figures follow from the players.
@Suite("CDN logs that arrive late, unordered or repeated", .enabled(if: TestRun.isFull))
struct CDNLogDeliveryTests {
    /// The way in which a log is delivered.
    struct LogDelivery: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// The delay of most lines in seconds.
        var lateness: ClosedRange<Double> = 0...0
        var growth = 0.0
        /// The fraction of lines with an additional delay of 8 to 25 seconds.
        var slow = 0.0
        /// Whether every second bundle is repeated.
        var isRepeated = false
        /// Whether the first line is a minute late.
        var hasSlowestFirst = false
        /// Whether the log has media lines; then there are also players without media requests.
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
        ledger.enableHistory()
        ledger.roomBegan("show")
    }

    /// The history that the ledger has written.
    private struct Written {
        var sessions: [UInt64: SessionRow] = [:]
        var gaps: [GapRow] = []

        mutating func append(_ batch: HistoryBatch) {
            for row in batch.sessions.values { sessions[row.code] = row }
            gaps += batch.gaps
        }

        /// The peak of concurrent viewers, from the sessions' times; nil with open sessions.
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

    /// Returns the true peak of concurrent players.
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

    /// - Parameter firstSwitch: The number of playlists before the first rendition switch.
    private func crowd(_ random: inout SeededGenerator, firstSwitch: Int) -> [Player] {
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

    /// Fifteen clients that request playlists only, from other addresses.
    private static let lurkers = (240..<255).map { number in
        let join = Double(number - 236) * 10.5
        var lurker = Player(sid: "", country: "", join: join, leave: join + Double(number) / 3)
        lurker.polls = stride(from: join, through: lurker.leave, by: 2).map { ($0, "720p") }
        return lurker
    }

    /// Returns the log line of a media file.
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
        "joins, watch time, switches and regions match the players",
        arguments: [
            LogDelivery(testDescription: "at once"),
            LogDelivery(
                testDescription: "up to eight seconds late, some much later, half of it twice",
                lateness: 0...8,
                slow: 0.03,
                isRepeated: true
            ),
            LogDelivery(testDescription: "later and later", growth: 6),
            LogDelivery(testDescription: "the slowest line first", lateness: 0...8, hasSlowestFirst: true),
            LogDelivery(
                testDescription: "all of it",
                lateness: 0...8,
                growth: 6,
                slow: 0.03,
                isRepeated: true,
                hasSlowestFirst: true
            ),
            LogDelivery(testDescription: "at once, with media", hasMedia: true),
            LogDelivery(testDescription: "up to eight seconds late, with media", lateness: 0...8, hasMedia: true),
        ]
    )
    func figures(delivery: LogDelivery) async throws {
        var random = SeededGenerator(seed: 7)
        let logs = CDNLogReader(
            audience: ledger,
            clock: clock,
            wall: { [clock] in
                Self.start.addingTimeInterval(clock.now.seconds(since: MonotonicTime(nanoseconds: 1_000_000_000)))
            },
            isOn: { $0 == "show" }
        )
        // Proof by media may come some playlists later.
        var players = crowd(&random, firstSwitch: delivery.hasMedia ? 30 : 0)
        let lurkers = delivery.hasMedia ? Self.lurkers : []
        players += lurkers
        var written = Written()
        // The lines with their arrival times.
        var arrivals: [(second: Double, line: String)] = []
        var bundles: [(second: Double, body: String)] = []
        var isFirst = true
        for second in 1...Int(Self.length) {
            clock.advance(by: .seconds(1))
            let now = Double(second)
            // The network requests `index.m3u8` for all players from one address.
            for number in players.indices where players[number].join.rounded(.down) == now {
                var request = PlayerRequest(userAgent: "VLC/3.0", address: "198.51.100.1")
                request.isSharedAddress = true
                guard case .viewer(let sid) = ledger.admit(request, to: "show") else {
                    Issue.record("\(number) is no viewer")
                    return
                }
                players[number].sid = sid
                for poll in players[number].polls {
                    var late = random.number(in: delivery.lateness) + delivery.growth * poll.second / Self.length
                    if random.number(in: 0...1) < delivery.slow { late += random.number(in: 8...25) }
                    if isFirst, delivery.hasSlowestFirst { late = 60 }
                    isFirst = false
                    arrivals.append((max(poll.second + late, now), line(players[number], poll, number)))
                    guard delivery.hasMedia, number < 240 else { continue }
                    let sent = poll.second + 0.25
                    let comes = sent + random.number(in: delivery.lateness)
                    arrivals.append((max(comes, now), file(number, at: sent)))
                }
            }
            // Two servers of the network push separate bundles.
            for every in [7, 11] where second % every == 0 {
                let isDue = { (line: String) in line.utf8.reduce(0) { $0 &+ Int($1) } % 2 == (every == 7 ? 0 : 1) }
                let due = arrivals.filter { $0.second <= now && isDue($0.line) }
                arrivals.removeAll { $0.second <= now && isDue($0.line) }
                let body = due.map(\.line).shuffled(using: &random).joined(separator: "\n")
                bundles.append((now, body))
                if delivery.isRepeated, bundles.count % 2 == 0 { bundles.append((now + 5, body)) }
            }
            for bundle in bundles where bundle.second <= now {
                let receipt = try await logs.read(ByteBuffer(string: bundle.body), of: "cdn")
                #expect(receipt.late == 0 && receipt.dropped == 0 && receipt.malformed == 0)
            }
            bundles.removeAll { $0.second <= now }
            logs.advance()
            ledger.advance(to: clock.now)
            written.append(ledger.drainHistory())
        }
        for _ in 0..<200 {
            clock.advance(by: .seconds(1))
            logs.advance()
            ledger.advance(to: clock.now)
            written.append(ledger.drainHistory())
        }
        players.removeLast(lurkers.count)
        let report = ledger.report(room: "show")
        #expect(report.excluded[.noMedia] == lurkers.count)
        #expect(report.joins == 240 && report.leaves == 240 && report.concurrent == 0)
        let (peak, truePeak) = (try #require(written.peak), Self.peak(of: players))
        #expect(abs(peak - truePeak) <= 1, "the settled peak is \(peak), and truly \(truePeak)")
        // Watch time ends half a poll interval after the last request.
        let watched = players.reduce(0) { $0 + ($1.polls.last?.second ?? 0) - $1.join + 1 }
        let error = report.watchTimeSeconds / watched - 1
        #expect(abs(error) < 0.002, "watch time is wrong by \(error * 100) %")
        // A player counts, and can switch, from its second playlist on.
        let switches = players.reduce(0) { sum, player in
            sum + zip(player.polls.dropFirst(), player.polls.dropFirst(2)).count { $0.rendition != $1.rendition }
        }
        #expect(report.counts.switches == switches)
        #expect(report.uniques.estimated == 240)
        if delivery.isRepeated { #expect(logs.total.repeated > 1000) }
        let joins = ledger.metrics().first { $0.name == "footlight_viewer_watch_seconds_total" }
        let regions = Set(joins?.samples.compactMap { $0.labels.first { $0.name == "region" }?.value } ?? [])
        #expect(regions == ["DE", "FR", "US"])
        let german = joins?.samples.filter { $0.labels.contains { $0.value == "DE" } }.reduce(0) { $0 + $1.value } ?? 0
        let trulyGerman = players.filter { $0.country == "DE" }
            .reduce(0) { $0 + ($1.polls.last?.second ?? 0) - $1.join + 1 }
        #expect(abs(german / trulyGerman - 1) < 0.002)
    }
}

extension SeededGenerator {
    mutating func number(in range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &self) }
}

@Suite("Viewers counted from a CDN log")
struct CDNLogCountTests {
    /// A player behind the network; times in seconds from the start.
    private struct WatchSession {
        var fields: String
        var query: String
        var first: Double
        var polls: Int

        var last: Double { first + 2 * Double(polls - 1) }
    }

    private static let start = Date(timeIntervalSince1970: 1_700_000_000)
    private let clock = ManualClock()
    private let ledger: ViewershipLedger

    init() {
        ledger = ViewershipLedger(
            keys: SessionKeys(current: SessionKey(version: 1, secret: Array(1...32))),
            clock: clock,
            configuration: .init(),
            startDate: Self.start
        )
        ledger.roomBegan("show")
    }

    /// Makes sixty players, identified by session id, by CMCD, and by CMCD in another network's format.
    private func players() -> [WatchSession] {
        (0..<60).map { number in
            // Unique fractions, so that the order is unambiguous.
            let first = number == 0 ? 0 : Double(number % 20) * 7 + Double(number) / 100
            let polls = 8 + (number * 13) % 50
            let agent = #","user_agent":"VLC/3.0","ip":"192.0.2.\#(number)""#
            switch number % 3 {
            case 0:
                let sid = ledger.makeSession(room: "show")
                return WatchSession(fields: agent, query: "?sid=\(sid)", first: first, polls: polls)
            case 1:
                return WatchSession(fields: agent, query: "?CMCD=sid%3D%22p\(number)%22", first: first, polls: polls)
            default:
                let cmcd = #","cmcd":"//1.0@V/br=1,sid=%22p\#(number)%22","UA":"VLC%2F3.0""#
                return WatchSession(fields: cmcd, query: "?_HLS_msn=1", first: first, polls: polls)
            }
        }
    }

    private static func line(_ query: String, _ fields: String, at second: Double, method: String = "GET") -> String {
        let time = start.timeIntervalSince1970 + second
        return #"{"uri":"/live/show/media.m3u8\#(query)","status":200,"time":\#(time),"method":"\#(method)"\#(fields)}"#
    }

    /// Returns all log lines with their times: those of the players, and some that never count.
    private func story(_ players: [WatchSession]) -> [(second: Double, line: String)] {
        var lines = players.flatMap { player in
            (0..<player.polls).map { poll in
                let second = player.first + 2 * Double(poll)
                return (second: second, line: Self.line(player.query, player.fields, at: second))
            }
        }
        let (forged, mine) = (ledger.makeSession(room: "other"), ledger.makeSession(room: "show"))
        for second in stride(from: 3.0, to: 60, by: 2) {
            let others = [
                Self.line("?CMCD=sid%3D%22bot%22", #","user_agent":"Googlebot/2.1""#, at: second),
                Self.line("?sid=\(mine)", #","sec_purpose":"prefetch""#, at: second),
                Self.line("?sid=\(mine)", "", at: second, method: "HEAD"),
                Self.line("?sid=\(forged)", "", at: second), Self.line("", "", at: second), "{\"uri\":",
            ]
            lines += others.map { (second: second, line: $0) }
        }
        return lines.sorted { $0.second < $1.second }
    }

    @Test("counts each player once and for its watch time, for any bundle length", arguments: [30.0, 5.0])
    func count(bundle: Double) async throws {
        let logs = CDNLogReader(
            audience: ledger,
            clock: clock,
            wall: { [clock] in
                Self.start.addingTimeInterval(clock.now.seconds(since: MonotonicTime(nanoseconds: 1_000_000_000)))
            },
            isOn: { $0 == "show" }
        )
        let players = players()
        let story = story(players)
        // A bundle covers so many seconds and arrives five seconds later.
        let delay = bundle + 5
        let end = (players.map(\.last).max() ?? 0) + delay + 60
        var delivered = 0
        for second in 1...Int(end) {
            clock.advance(by: .seconds(1))
            let now = Double(second)
            if (now - 5).truncatingRemainder(dividingBy: bundle) == 0 {
                let lines = story.dropFirst(delivered).prefix { $0.second < now - 5 }.map(\.line)
                delivered += lines.count
                let body = ByteBuffer(string: lines.joined(separator: "\n"))
                let receipt = try await logs.read(body, of: "cdn")
                #expect(receipt.late == 0 && receipt.dropped == 0 && receipt.ignored == 0)
            }
            logs.advance()
            ledger.advance(to: clock.now)
            let live = ledger.report(room: "show").concurrent
            // A player counts from its second playlist, and leaves within 12 seconds.
            let moment = now - delay
            let sure = players.count { $0.first + 2 <= moment - 2 && moment <= $0.last }
            let possible = players.count { $0.first + 2 <= moment && moment - 14 <= $0.last }
            #expect((sure...possible).contains(live), "\(live) at \(second)")
        }
        #expect(delivered == story.count)
        let report = ledger.report(room: "show")
        #expect(report.joins == 60 && report.concurrent == 0 && report.leaves == 60)
        // Watch time ends half a poll interval after the last request.
        let watched = players.reduce(0) { $0 + $1.last - $1.first + 1 }
        #expect(abs(report.watchTimeSeconds - watched) < 0.001 * watched, "\(report.watchTimeSeconds) of \(watched)")
        #expect(report.joinsByProtocol[.hls] == 40 && report.joinsByProtocol[.llhls] == 20)
        let others = story.count { $0.line.contains("HEAD") }
        #expect(report.excluded[.head] == others && report.excluded[.prefetch] == others)
        #expect(report.excluded[.agent] == 1)
        #expect(logs.total.nameless == others && logs.total.malformed == others)
        #expect(logs.total.taken == story.count - 2 * others)
    }
}
