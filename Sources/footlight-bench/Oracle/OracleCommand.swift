import ArgumentParser
import Egress
import FootlightTesting
import Foundation
import Media
import RTMP

struct OracleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audience-oracle",
        abstract: "Real players by the thousand, by six ways in, counted by a real gateway that is killed twice.",
        discussion: """
            Every player's coming and going is known here to a few hundredths of a second; the gateway's count is held \
            against it each second, by its API and its metrics. Players by HLS fetch a playlist and its newest media, \
            from the gateway, from an nginx with the configuration of deploy/nginx, or from another that stands for a \
            content network and whose log is all that is heard of them. The program comes from here too, as from a \
            mixer, and is there again when the gateway is.
            """
    )

    @Option(help: "Minutes in which players come and go.")
    var minutes = 4.0

    @Option(help: "Players by RTMP at a time.")
    var rtmp = 200

    @Option(help: "Players by HTTP-FLV at a time.")
    var flv = 400

    @Option(help: "Players by HLS at a time.")
    var hls = 1000

    @Option(help: "Players by HLS at a time that wait for the next segment.")
    var llhls = 400

    @Option(help: "Players by HLS at a time behind an nginx with the cache of deploy/nginx.")
    var nginx = 600

    @Option(help: "Players by HLS at a time behind a content network that pushes its log, late and in part twice.")
    var log = 400

    @Option(help: "How often the gateway is killed, at even distances.")
    var kills = 2

    @Option(help: "Kilobits a second of the program.")
    var kilobits = 150

    @Option(help: "A folder for what each player did and what the gateway says of each session, as JSON.")
    var details: String?

    @OptionGroup var program: GatewayProgram

    /// Seconds after the last player has left until nobody may be counted any more, nor come back.
    private var tail: Double { log > 0 ? 66 : 50 }

    private static let room = "show"

    private var counts: [OracleLife.Kind: Int] {
        [.rtmp: rtmp, .flv: flv, .hls: hls, .llhls: llhls, .nginx: nginx, .log: log]
    }

    func validate() throws {
        guard (0...2).contains(kills) else { throw ValidationError("kills are 0, 1 or 2") }
        guard counts.values.allSatisfy({ (0...50_000).contains($0) }) else {
            throw ValidationError("players are 0 to 50000 of a kind")
        }
    }

    func run() async throws {
        EgressLibraries.initialise()
        DescriptorLimit.raise()
        let beatsPort = try FreePort.pick()
        let gateway = try await program.start([
            "FOOTLIGHT_LOG_LEVEL": "error", "FOOTLIGHT_FANOUT_TICK": "100",
            "FOOTLIGHT_VIEWERSHIP_BEATS_PORT": "\(beatsPort)",
            "FOOTLIGHT_VIEWERSHIP_PROXIES": OracleNginx.cacheAddress,
            // Without it players' own names for their devices are not taken, and each session is a device.
            "FOOTLIGHT_VIEWERSHIP_DEVICE_IDS": "true",
        ])
        defer { gateway.end() }
        let broadcast = try await OracleProgram(room: Self.room, gateway, kilobits: kilobits)
        defer { broadcast.stop() }
        let (rtmpPort, httpPort) = (gateway.endpoints.rtmpPort, gateway.endpoints.httpPort)
        let cache = nginx > 0 ? try await OracleNginx.cache(gatewayPort: httpPort, beatsPort: beatsPort) : nil
        defer { cache?.stop() }
        let token = try await relayToken(of: gateway)
        let network = log > 0 ? try await OracleNginx.network(gatewayPort: httpPort, token: token) : nil
        defer { network?.stop() }
        let push = try network.map { try OracleLogPush($0.accessLog, to: gateway, token: token) }
        let start = MonotonicTime.now()
        let script = OracleScript(seconds: minutes * 60)
        var ports: [OracleLife.Kind: Int] = [.rtmp: rtmpPort, .flv: httpPort, .hls: httpPort, .llhls: httpPort]
        ports[.nginx] = cache?.port
        ports[.log] = network?.port
        let place = OraclePlace(ports: ports, room: Self.room, script: script)
        let crowd = OracleCrowd(counts, place, start: start)
        let (samples, kills) = try await watch(gateway, push, script, start)
        let (lives, longestSweep) = crowd.finish()

        print("")
        print("\(lives.count) players in \(Int(script.end)) s, \(samples.count) snapshots, \(kills.count) kills;")
        let (playlists, files) = (lives.reduce(0) { $0 + $1.answers.count }, lives.reduce(0) { $0 + $1.files })
        print("\(playlists) playlists, \(files) media files;")
        print("answers other than what was asked for: \(lives.reduce(0) { $0 + $1.refusals })")
        print("nobody was looked at for \(longestSweep.text(3)) s at the longest")
        if let push { tell(await push.finish()) }
        print("")
        var verdict = OracleVerdict(lives, samples, kills)
        let report = try await get(gateway, "/v1/rooms/\(Self.room)/viewership")
        // What is judged of it is settled, and what is read first cannot be older than what is read last.
        let summary = try await end(gateway)
        let sessions = try await sessions(gateway)
        if let details { try OracleDetails(start: start, lives, samples, sessions, kills).write(to: details) }
        verdict.judge(summary: summary, sessions: sessions, report: report)
        if let last = samples.last, last.total != 0 { throw ToolFailure("\(last.total) still count at the end") }
        guard verdict.isGood else { throw ToolFailure("a guarantee was broken") }
    }

    /// What a content network shows, as its operator makes it.
    private func relayToken(of gateway: GatewayProcess) async throws -> String {
        let footlight = try program.binary ?? GatewayProcess.findBinary()
        let arguments = ["token", "--data-dir", gateway.dataFolder, "--role", "relay", "--identity", "cdn"]
        let token = try await ChildProcess.run([footlight] + arguments + ["--expires", "1d"])
        return token.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Looks each second until all is over, and kills the gateway at even distances.
    private func watch(
        _ gateway: GatewayProcess,
        _ push: OracleLogPush?,
        _ script: OracleScript,
        _ start: MonotonicTime
    ) async throws -> (samples: [OracleSample], kills: [OracleTruth.Kill]) {
        var samples: [OracleSample] = []
        var done: [OracleTruth.Kill] = []
        var second = 0
        while true {
            let wait = start.advanced(seconds: Double(second) + 0.5).seconds(since: .now())
            if wait > 0 { try await Task.sleep(for: .seconds(wait)) }
            let now = MonotonicTime.now().seconds(since: start)
            if done.count < kills, now > script.end * Double(done.count + 1) / Double(kills + 1) {
                // At any moment between two looks.
                try await Task.sleep(for: .seconds(.random(in: 0...1)))
                let killed = MonotonicTime.now().seconds(since: start)
                try await gateway.kill9()
                try await gateway.start(keepsPorts: true)
                let listening = MonotonicTime.now().seconds(since: start)
                done.append(OracleTruth.Kill(killed: killed, listening: listening))
                print("\(killed.text(1)) s: killed, and back after \((listening - killed).text(2)) s")
            }
            let logged = push?.deliveredUntil
            let sample = try await OracleSample(gateway, room: Self.room, start: start, logged: logged)
            samples.append(sample)
            if second % 10 == 0 { tell(sample) }
            if now > script.end + tail { return (samples, done) }
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

    private func tell(_ figures: OracleLogPush.Figures) {
        let lines = figures.lines.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        print("\(figures.bundles) bundles of the log, \(figures.pushedTwice) twice, \(figures.failures) tries failed;")
        print("their lines: \(lines)")
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
