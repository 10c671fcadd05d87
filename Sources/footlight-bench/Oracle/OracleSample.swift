import FootlightTesting
import Foundation
import Media

/// What the gateway said at one moment, by its API and on its page of metrics.
struct OracleSample: Sendable {
    /// A count of some moment between two.
    struct Look: Sendable {
        let from: Double
        let to: Double
        /// By the ways that it tells apart.
        let counts: [Set<OracleLife.Kind>: Int]
        /// Of these, who is told of without the name of its player, so that nobody knows by which way it came.
        var unnamed = 0
    }

    /// Counters that never step back, by what they count and of whom.
    typealias Counters = [String: Double]

    /// Seconds since the oracle began: the moment that the answer says it is of.
    let at: Double
    let total: Int
    let joins: Int
    /// Seconds watched.
    let watched: Double
    let byKind: [OracleLife.Kind: Int]
    /// The same as Prometheus would read it a moment later.
    ///
    /// The page does not say of which moment it is, and right after a restart hundreds come back in a tenth of a second:
    /// so it is of any moment between question and answer, and not of the one of the API's answer before it.
    let looks: [Look]
    /// On the page of metrics.
    let counters: Counters
    /// By how much logs are late there, in seconds.
    let logLag: Double
    /// Up to when it had been sent every line of the log, in seconds.
    let logged: Double
    let isRecovering: Bool
    /// What does not add up.
    let contradictions: [String]

    /// Viewers by requests, whichever way they ask.
    static let requests: Set<OracleLife.Kind> = [.hls, .llhls, .nginx, .log]

    /// How many watch by some ways.
    func live(_ kinds: Set<OracleLife.Kind>) -> Int { kinds.reduce(0) { $0 + (byKind[$1] ?? 0) } }

    /// Asks the gateway.
    ///
    /// - Parameter logged: Up to when it has been sent every line of the log.
    init(_ gateway: GatewayProcess, room: String, start: MonotonicTime, logged: MonotonicTime?) async throws {
        self.logged = logged?.seconds(since: start) ?? .infinity
        let before = MonotonicTime.now()
        let reply = try await gateway.api("GET", "/v1/rooms/\(room)/viewership")
        let after = MonotonicTime.now()
        try expect(reply, "the count")
        let json = reply.json
        at = try Self.moment(of: json, start: start, from: before, to: after)
        total = json["concurrent_viewers"].int ?? -1
        joins = json["joins"].int ?? -1
        watched = json["watch_time_seconds"].double ?? -1
        isRecovering = json["recovering"].bool ?? false
        func counts(_ part: String) -> [String: Int] {
            guard case .object(let members) = json["by"][part] else { return [:] }
            return members.compactMapValues(\.int)
        }
        let (ways, clients) = (counts("protocol"), counts("client"))
        byKind = Dictionary(
            uniqueKeysWithValues: OracleLife.Kind.allCases.map {
                ($0, ($0.isConnection ? ways["\($0)"] : clients[$0.client]) ?? 0)
            }
        )
        contradictions = Self.contradictions(in: json, counts)
        let page = try await Page(gateway, room: room, start: start)
        counters = page.counters
        logLag = page.logLag
        var parts = Dictionary(uniqueKeysWithValues: byKind.map { (Set([$0]), $1) })
        parts[Set(OracleLife.Kind.allCases)] = total
        var look = Look(from: at, to: at, counts: parts)
        look.unnamed = clients["unknown"] ?? 0
        looks = [look, page.look]
    }

    private static func contradictions(in json: JSONValue, _ counts: (String) -> [String: Int]) -> [String] {
        var contradictions: [String] = []
        let (total, joins) = (json["concurrent_viewers"].int ?? -1, json["joins"].int ?? -1)
        for part in ["protocol", "rendition", "region", "client"] {
            let sum = counts(part).values.reduce(0, +)
            if sum != total { contradictions.append("Σ by \(part) is \(sum), the total \(total)") }
        }
        let (leaves, resumable) = (json["leaves"].int ?? -1, json["resumable"].int ?? -1)
        if joins - leaves != total + resumable {
            contradictions.append(
                "\(joins) joins - \(leaves) leaves, but \(total) watch and \(resumable) may come back"
            )
        }
        if let peak = json["peak_concurrent_viewers"].int, peak < total {
            contradictions.append("the peak \(peak) is below \(total)")
        }
        return contradictions
    }

    /// The moment of a count, by the wall clock that the gateway and we share; never outside of the request.
    private static func moment(
        of json: JSONValue,
        start: MonotonicTime,
        from before: MonotonicTime,
        to after: MonotonicTime
    ) throws -> Double {
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        guard let text = json["as_of"].string else { throw ToolFailure("a count of no moment") }
        let age = try Date().timeIntervalSince(format.parse(text))
        let moment = MonotonicTime.now().seconds(since: start) - age
        return min(max(moment, before.seconds(since: start)), after.seconds(since: start))
    }

    /// The page of metrics, as far as it tells of viewers.
    private struct Page {
        let look: Look
        let counters: Counters
        let logLag: Double

        init(_ gateway: GatewayProcess, room: String, start: MonotonicTime) async throws {
            let before = MonotonicTime.now().seconds(since: start)
            let page = try await gateway.request("GET", port: gateway.endpoints.adminPort, "/metrics")
            let after = MonotonicTime.now().seconds(since: start)
            var counts: [Set<OracleLife.Kind>: Int] = [[.rtmp]: 0, [.flv]: 0, requests: 0]
            var (counters, lag) = (Counters(), 0.0)
            for line in page.text.split(separator: "\n") where !line.hasPrefix("#") {
                guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
                    continue
                }
                let name = line[..<space]
                if name == "footlight_log_lag_seconds" { lag = value }
                guard name.contains("room=\"\(room)\"") else { continue }
                if name.hasPrefix("footlight_viewers{") {
                    let kinds = [.rtmp, .flv].first { name.contains("protocol=\"\($0)\"") }
                        .map { (kind: OracleLife.Kind) in Set([kind]) }
                    counts[kinds ?? requests, default: 0] += Int(value)
                }
                for family in ["footlight_viewer_joins_total", "footlight_viewer_watch_seconds_total"]
                where name.hasPrefix(family) {
                    counters[String(name)] = value
                    counters[family, default: 0] += value
                }
            }
            look = Look(from: before, to: after, counts: counts)
            self.counters = counters
            logLag = lag
        }
    }
}
