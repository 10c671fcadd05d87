import FanOut
import FootlightTesting
import Foundation
import Media
import NIOCore
import Stage
import Testing
import Viewership

@Suite("Viewers behind a content network, by its log")
struct LogCountTests {
    /// Somebody who watches behind the network; seconds from the beginning.
    private struct Watching {
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

    /// Sixty players, known by the id in the address, by CMCD, and by CMCD as another network writes it.
    private func players() -> [Watching] {
        (0..<60).map { number in
            // Fractions that no two share, so that the order is plain.
            let first = number == 0 ? 0 : Double(number % 20) * 7 + Double(number) / 100
            let polls = 8 + (number * 13) % 50
            let agent = #","user_agent":"VLC/3.0","ip":"192.0.2.\#(number)""#
            switch number % 3 {
            case 0:
                let sid = ledger.makeSession(room: "show")
                return Watching(fields: agent, query: "?sid=\(sid)", first: first, polls: polls)
            case 1:
                return Watching(fields: agent, query: "?CMCD=sid%3D%22p\(number)%22", first: first, polls: polls)
            default:
                let cmcd = #","cmcd":"//1.0@V/br=1,sid=%22p\#(number)%22","UA":"VLC%2F3.0""#
                return Watching(fields: cmcd, query: "?_HLS_msn=1", first: first, polls: polls)
            }
        }
    }

    private static func line(_ query: String, _ fields: String, at second: Double, method: String = "GET") -> String {
        let time = start.timeIntervalSince1970 + second
        return #"{"uri":"/live/show/media.m3u8\#(query)","status":200,"time":\#(time),"method":"\#(method)"\#(fields)}"#
    }

    /// Everything that the log tells, with its moments: the players, and what never counts.
    private func story(_ players: [Watching]) -> [(second: Double, line: String)] {
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

    @Test("each counts once, from and to when it watched, however the log is bundled", arguments: [30.0, 5.0])
    func count(bundle: Double) async throws {
        let logs = AudienceLogs(
            audience: ledger,
            clock: clock,
            wall: { [clock] in
                Self.start.addingTimeInterval(clock.now.seconds(since: MonotonicTime(nanoseconds: 1_000_000_000)))
            },
            isOn: { $0 == "show" }
        )
        let players = players()
        let story = story(players)
        // A bundle holds so many seconds, and comes five seconds after the last of them.
        let delay = bundle + 5
        let end = (players.map(\.last).max() ?? 0) + delay + 60
        var told = 0
        for second in 1...Int(end) {
            clock.advance(by: .seconds(1))
            let now = Double(second)
            if (now - 5).truncatingRemainder(dividingBy: bundle) == 0 {
                let lines = story.dropFirst(told).prefix { $0.second < now - 5 }.map(\.line)
                told += lines.count
                let body = ByteBuffer(string: lines.joined(separator: "\n"))
                let receipt = try await logs.take(body, of: "cdn")
                #expect(receipt.late == 0 && receipt.dropped == 0 && receipt.ignored == 0)
            }
            logs.advance()
            ledger.advance(to: clock.now)
            let live = ledger.report(room: "show").concurrent
            // Proven by the second playlist; noticed to be gone after 12 seconds at the latest.
            let moment = now - delay
            let sure = players.count { $0.first + 2 <= moment - 2 && moment <= $0.last }
            let possible = players.count { $0.first + 2 <= moment && moment - 14 <= $0.last }
            #expect((sure...possible).contains(live), "\(live) at \(second)")
        }
        #expect(told == story.count)
        let report = ledger.report(room: "show")
        #expect(report.joins == 60 && report.concurrent == 0 && report.leaves == 60)
        // Half a poll beyond the last one.
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
