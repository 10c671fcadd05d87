import Foundation
import Media
import TestSupport

/// The gateway's counts at one moment, from its API and its metrics.
struct OracleSample: Sendable {
    /// Counts of a moment between two times.
    struct Snapshot: Sendable {
        let from: Double
        let to: Double
        /// Viewers by the sets of kinds that the source distinguishes.
        let counts: [Set<OraclePlayback.Kind>: Int]
        /// Viewers of these whose player is unknown, so that their kind is unknown too.
        var unnamed = 0
    }

    /// Monotonic counters by series name.
    typealias Counters = [String: Double]

    /// Seconds since the start of the run, from the response's `as_of`.
    let at: Double
    let total: Int
    let joins: Int
    /// Watch time in seconds.
    let watched: Double
    let byKind: [OraclePlayback.Kind: Int]
    /// The counts of the API, and those of the metrics read after them.
    ///
    /// Metrics carry no time, and right after a restart hundreds of viewers resume within a tenth of a second: so their
    /// moment lies anywhere between request and response, not at that of the API's response.
    let snapshots: [Snapshot]
    /// The counters of the metrics.
    let counters: Counters
    /// The log lag of the metrics in seconds.
    let logLag: Double
    /// The time in seconds up to which every log line had been pushed.
    let logged: Double
    let isRecovering: Bool
    /// Inconsistencies within the counts.
    let contradictions: [String]

    /// The kinds of viewers by requests.
    static let requests: Set<OraclePlayback.Kind> = [.hls, .llhls, .nginx, .log]

    /// Returns the number of viewers of some kinds.
    func live(_ kinds: Set<OraclePlayback.Kind>) -> Int { kinds.reduce(0) { $0 + (byKind[$1] ?? 0) } }

    /// Queries the gateway.
    ///
    /// - Parameter logged: The time up to which every log line has been pushed.
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
        let (protocols, clients) = (counts("protocol"), counts("client"))
        byKind = Dictionary(
            uniqueKeysWithValues: OraclePlayback.Kind.allCases.map {
                ($0, ($0.isConnection ? protocols["\($0)"] : clients[$0.client]) ?? 0)
            }
        )
        contradictions = Self.contradictions(in: json, counts)
        let page = try await Page(gateway, room: room, start: start)
        counters = page.counters
        logLag = page.logLag
        var parts = Dictionary(uniqueKeysWithValues: byKind.map { (Set([$0]), $1) })
        parts[Set(OraclePlayback.Kind.allCases)] = total
        var snapshot = Snapshot(from: at, to: at, counts: parts)
        snapshot.unnamed = clients["unknown"] ?? 0
        snapshots = [snapshot, page.snapshot]
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
                "\(joins) joins - \(leaves) leaves, but \(total) watch and \(resumable) may resume"
            )
        }
        if let peak = json["peak_concurrent_viewers"].int, peak < total {
            contradictions.append("the peak \(peak) is below \(total)")
        }
        return contradictions
    }

    /// Returns the time of a count by the shared wall clock, clamped to the duration of the request.
    private static func moment(
        of json: JSONValue,
        start: MonotonicTime,
        from before: MonotonicTime,
        to after: MonotonicTime
    ) throws -> Double {
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        guard let text = json["as_of"].string else { throw ToolFailure("a count without as_of") }
        let age = try Date().timeIntervalSince(format.parse(text))
        let moment = MonotonicTime.now().seconds(since: start) - age
        return min(max(moment, before.seconds(since: start)), after.seconds(since: start))
    }

    /// The viewership series of the metrics.
    private struct Page {
        let snapshot: Snapshot
        let counters: Counters
        let logLag: Double

        init(_ gateway: GatewayProcess, room: String, start: MonotonicTime) async throws {
            let before = MonotonicTime.now().seconds(since: start)
            let page = try await gateway.request("GET", port: gateway.endpoints.adminPort, "/metrics")
            let after = MonotonicTime.now().seconds(since: start)
            var counts: [Set<OraclePlayback.Kind>: Int] = [[.rtmp]: 0, [.flv]: 0, requests: 0]
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
                        .map { (kind: OraclePlayback.Kind) in Set([kind]) }
                    counts[kinds ?? requests, default: 0] += Int(value)
                }
                for family in ["footlight_viewer_joins_total", "footlight_viewer_watch_seconds_total"]
                where name.hasPrefix(family) {
                    counters[String(name)] = value
                    counters[family, default: 0] += value
                }
            }
            snapshot = Snapshot(from: before, to: after, counts: counts)
            self.counters = counters
            logLag = lag
        }
    }
}
