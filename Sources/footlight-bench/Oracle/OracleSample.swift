import FootlightTesting
import Foundation
import Media

/// What the gateway said at one moment, by its API and on its page of metrics.
struct OracleSample: Sendable {
    /// A count by kind, of some moment between two.
    struct Look: Sendable {
        let from: Double
        let to: Double
        let counts: [OracleLife.Kind: Int]
    }

    /// Seconds since the oracle began: the moment that the answer says it is of.
    let at: Double
    let total: Int
    let joins: Int
    let byKind: [OracleLife.Kind: Int]
    /// The same as Prometheus would read it a moment later; nil where it was not asked.
    ///
    /// The page does not say of which moment it is, and right after a restart hundreds come back in a tenth of a second:
    /// so it is of any moment between question and answer, and not of the one of the API's answer before it.
    var metrics: Look?
    let isRecovering: Bool
    /// What does not add up.
    var contradictions: [String] = []

    /// Viewers by requests, whichever way they ask.
    static func requests(_ counts: [OracleLife.Kind: Int]) -> Int { (counts[.hls] ?? 0) + (counts[.llhls] ?? 0) }

    /// Asks the gateway.
    ///
    /// - Parameter readsMetrics: Asks for the page of metrics too.
    init(_ gateway: GatewayProcess, room: String, start: MonotonicTime, readsMetrics: Bool) async throws {
        let before = MonotonicTime.now()
        let reply = try await gateway.api("GET", "/v1/rooms/\(room)/viewership")
        let after = MonotonicTime.now()
        try expect(reply, "the count")
        let json = reply.json
        at = try Self.moment(of: json, start: start, from: before, to: after)
        total = json["concurrent_viewers"].int ?? -1
        joins = json["joins"].int ?? -1
        isRecovering = json["recovering"].bool ?? false
        func counts(_ part: String) -> [String: Int] {
            guard case .object(let members) = json["by"][part] else { return [:] }
            return members.compactMapValues(\.int)
        }
        let ways = counts("protocol")
        byKind = Dictionary(uniqueKeysWithValues: OracleLife.Kind.allCases.map { ($0, ways["\($0)"] ?? -1) })
        for part in ["protocol", "rendition", "region", "client"] where counts(part).values.reduce(0, +) != total {
            contradictions.append("Σ by \(part) is \(counts(part).values.reduce(0, +)), the total \(total)")
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
        if readsMetrics { metrics = try await Self.metrics(gateway, room: room, start: start) }
    }

    /// What the API and the page of metrics said.
    var looks: [Look] { [Look(from: at, to: at, counts: byKind)] + (metrics.map { [$0] } ?? []) }

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

    private static func metrics(
        _ gateway: GatewayProcess,
        room: String,
        start: MonotonicTime
    ) async throws -> Look {
        let before = MonotonicTime.now().seconds(since: start)
        let page = try await gateway.request("GET", port: gateway.endpoints.adminPort, "/metrics")
        let after = MonotonicTime.now().seconds(since: start)
        var counts: [OracleLife.Kind: Int] = [:]
        for line in page.text.split(separator: "\n")
        where line.hasPrefix("footlight_viewers{") && line.contains("room=\"\(room)\"") {
            for kind in OracleLife.Kind.allCases where line.contains("protocol=\"\(kind)\"") {
                counts[kind, default: 0] += line.split(separator: " ").last.flatMap { Int($0) } ?? 0
            }
        }
        return Look(from: before, to: after, counts: counts)
    }
}
