import ArgumentParser
import Egress
import FootlightTesting
import Foundation
import Media
import RTMP

struct OracleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audience-oracle",
        abstract: "Real connections by the thousand that come and go, counted by a real gateway that is killed midway.",
        discussion: """
            Every player's coming and going is known here to a few hundredths of a second; the gateway's count is held \
            against it each second, by its API and its metrics. Players by HLS ask for playlists, which is all that is \
            counted of them. The program comes from here too, as from a mixer, and is there again when the gateway is.
            """
    )

    @Option(help: "Minutes in which players come and go.")
    var minutes = 5.0

    @Option(help: "Players by HLS at a time, a fifth of them by waiting for the next segment.")
    var hls = 2000

    @Option(help: "Players by HTTP-FLV at a time.")
    var flv = 500

    @Option(help: "Players by RTMP at a time.")
    var rtmp = 200

    @Flag(inversion: .prefixedNo, help: "Kills the gateway in the middle.")
    var crash = true

    @OptionGroup var program: GatewayProgram

    /// Seconds after the last player has left until nobody may be counted any more, nor come back.
    private static let tail = 50.0
    /// Between two looks at the page of metrics, in seconds.
    private static let metricsEvery = 5

    private static let room = "show"

    func run() async throws {
        EgressLibraries.initialise()
        DescriptorLimit.raise()
        let gateway = try await program.start([
            "FOOTLIGHT_LOG_LEVEL": "error", "FOOTLIGHT_FANOUT_TICK": "100",
            // Without it players' own names for their devices are not taken, and each session is a device.
            "FOOTLIGHT_VIEWERSHIP_DEVICE_IDS": "true",
        ])
        defer { gateway.end() }
        let program = try await OracleProgram(room: Self.room, gateway)
        defer { program.stop() }
        let start = MonotonicTime.now()
        let script = OracleScript(seconds: minutes * 60)
        let counts: [OracleLife.Kind: Int] = [.rtmp: rtmp, .flv: flv, .hls: hls - hls / 5, .llhls: hls / 5]
        let place = OraclePlace(
            rtmpPort: gateway.endpoints.rtmpPort,
            httpPort: gateway.endpoints.httpPort,
            room: Self.room,
            script: script
        )
        let crowd = OracleCrowd(counts, place, start: start)
        let (samples, crash) = try await watch(gateway, script, start)
        let (lives, longestSweep) = crowd.finish()

        print("")
        print("\(lives.count) players in \(Int(script.end)) s, \(samples.count) snapshots;")
        print("answers other than what was asked for: \(lives.reduce(0) { $0 + $1.refusals })")
        print("nobody was looked at for \(longestSweep.text(3)) s at the longest\n")
        var verdict = OracleVerdict(lives, samples, crash)
        let report = try await get(gateway, "/v1/rooms/\(Self.room)/viewership")
        // What is judged of it is settled, and what is read first cannot be older than what is read last.
        let summary = try await end(gateway)
        verdict.judge(summary: summary, sessions: try await sessions(gateway), report: report)
        if let last = samples.last, last.total != 0 { throw ToolFailure("\(last.total) still count at the end") }
        guard verdict.isGood else { throw ToolFailure("a guarantee was broken") }
    }

    /// Looks each second until all is over, and kills the gateway in the middle.
    private func watch(
        _ gateway: GatewayProcess,
        _ script: OracleScript,
        _ start: MonotonicTime
    ) async throws -> (samples: [OracleSample], crash: OracleTruth.Crash?) {
        var samples: [OracleSample] = []
        var done: OracleTruth.Crash?
        var second = 0
        while true {
            let wait = start.advanced(seconds: Double(second) + 0.5).seconds(since: .now())
            if wait > 0 { try await Task.sleep(for: .seconds(wait)) }
            let now = MonotonicTime.now().seconds(since: start)
            if crash, done == nil, now > script.end / 2 {
                try await gateway.kill9()
                let killed = MonotonicTime.now().seconds(since: start)
                try await gateway.start(keepsPorts: true)
                let listening = MonotonicTime.now().seconds(since: start)
                done = OracleTruth.Crash(killed: killed, listening: listening)
                second = Int(listening) + 1
                continue
            }
            let readsMetrics = second % Self.metricsEvery == 0
            let sample = try await OracleSample(gateway, room: Self.room, start: start, readsMetrics: readsMetrics)
            samples.append(sample)
            if second % 10 == 0 { tell(sample) }
            if now > script.end + Self.tail { return (samples, done) }
            second = max(second + 1, Int(MonotonicTime.now().seconds(since: start)))
        }
    }

    /// Ends the broadcast.
    ///
    /// - Returns: Its summary, when it is written that it ended.
    private func end(_ gateway: GatewayProcess) async throws -> JSONValue {
        let path = "/v1/rooms/\(Self.room)"
        try expect(try await gateway.api("POST", path, .object(["status": .string("completed")])), "the end")
        var summary = JSONValue.null
        let isWritten = try await eventually(within: .seconds(10), every: .milliseconds(200)) {
            summary = try await get(gateway, path + "/viewership/summary")
            return summary["ended_at"].string != nil
        }
        guard isWritten else { throw ToolFailure("the broadcast does not end", log: gateway.log) }
        return summary
    }

    private func tell(_ sample: OracleSample) {
        let parts = OracleLife.Kind.allCases.map { "\($0) \(sample.byKind[$0] ?? -1)" }.joined(separator: ", ")
        print("\(Int(sample.at)) s: \(sample.total) watch (\(parts)), \(sample.joins) joined")
    }

    private func sessions(_ gateway: GatewayProcess) async throws -> [JSONValue] {
        var rows: [JSONValue] = []
        var token = ""
        while true {
            let path = "/v1/rooms/\(Self.room)/viewership/sessions?page_size=10000&page_token=\(token)"
            let page = try await get(gateway, path)
            rows += page["sessions"].elements
            guard let next = page["meta"]["next_page_token"].string, !next.isEmpty else { return rows }
            token = next
        }
    }

    private func get(_ gateway: GatewayProcess, _ path: String) async throws -> JSONValue {
        let reply = try await gateway.api("GET", path)
        try expect(reply, path)
        return reply.json
    }
}
