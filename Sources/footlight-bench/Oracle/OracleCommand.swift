import ArgumentParser
import Egress
import FootlightTesting
import Foundation
import Media
import RTMP
import TestSupport

struct OracleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audience-oracle",
        abstract: "Checks the viewer count of a gateway with thousands of players, by six routes, and two kills.",
        discussion: """
            Every player's join and leave is known to a few hundredths of a second; the gateway's count is compared \
            with it each second, by its API and its metrics. Players by HLS fetch a playlist and its newest media, \
            from the gateway, from an nginx with the configuration of deploy/nginx, or from another that represents a \
            content network, whose pushed log is the only source. This process also publishes the program, as a \
            mixer does, and reconnects after each kill.
            """
    )

    @Option(help: "Minutes in which players join and leave.")
    var minutes = 4.0

    @Option(help: "Concurrent players by RTMP.")
    var rtmp = 200

    @Option(help: "Concurrent players by HTTP-FLV.")
    var flv = 400

    @Option(help: "Concurrent players by HLS.")
    var hls = 1000

    @Option(help: "Concurrent players by HLS with blocking reloads.")
    var llhls = 400

    @Option(help: "Concurrent players by HLS behind an nginx with the cache of deploy/nginx.")
    var nginx = 600

    @Option(help: "Concurrent players by HLS behind a content network that pushes its log, late and partly twice.")
    var log = 400

    @Option(help: "Kills of the gateway, at even intervals.")
    var kills = 2

    @Option(help: "Kilobits per second of the program.")
    var kilobits = 150

    @Option(help: "A folder for the details of each player and each of the gateway's sessions, as JSON.")
    var details: String?

    @OptionGroup var program: GatewayProgram

    /// Seconds after the last player has left until no session may count or resume any more.
    private var tail: Double { log > 0 ? 66 : 50 }

    private static let room = "show"

    private var counts: [OraclePlayback.Kind: Int] {
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
        let accessLogPort = try FreePort.pick()
        let gateway = try await program.start([
            "FOOTLIGHT_LOG_LEVEL": "error", "FOOTLIGHT_FANOUT_TICK": "100",
            "FOOTLIGHT_VIEWERSHIP_BEATS_PORT": "\(accessLogPort)",
            "FOOTLIGHT_VIEWERSHIP_PROXIES": OracleNginx.cacheAddress,
            // Enabled, so that devices are counted by the ids that players send; without one, each session is a device.
            "FOOTLIGHT_VIEWERSHIP_DEVICE_IDS": "true",
        ])
        defer { gateway.end() }
        let broadcast = try await OracleProgram(room: Self.room, gateway, kilobits: kilobits)
        defer { broadcast.stop() }
        let (rtmpPort, httpPort) = (gateway.endpoints.rtmpPort, gateway.endpoints.httpPort)
        let cache = nginx > 0 ? try await OracleNginx.cache(gatewayPort: httpPort, accessLogPort: accessLogPort) : nil
        defer { cache?.stop() }
        let token = try await relayToken(of: gateway)
        let network = log > 0 ? try await OracleNginx.network(gatewayPort: httpPort, token: token) : nil
        defer { network?.stop() }
        let push = try network.map { try OracleLogPush($0.accessLog, to: gateway, token: token) }
        let start = MonotonicTime.now()
        let script = OracleScript(seconds: minutes * 60)
        var ports: [OraclePlayback.Kind: Int] = [.rtmp: rtmpPort, .flv: httpPort, .hls: httpPort, .llhls: httpPort]
        ports[.nginx] = cache?.port
        ports[.log] = network?.port
        let target = OracleTarget(ports: ports, room: Self.room, script: script)
        let crowd = OracleCrowd(counts, target, start: start)
        let (samples, kills) = try await watch(gateway, push, script, start)
        let (playbacks, longestSweep) = crowd.finish()

        print("")
        print("\(playbacks.count) players in \(Int(script.end)) s, \(samples.count) snapshots, \(kills.count) kills;")
        let (playlists, files) = (playbacks.reduce(0) { $0 + $1.answers.count }, playbacks.reduce(0) { $0 + $1.files })
        print("\(playlists) playlists, \(files) media files;")
        print("unsuccessful responses: \(playbacks.reduce(0) { $0 + $1.refusals })")
        print("longest interval between two polls: \(longestSweep.text(3)) s")
        if let push { printStatus(await push.finish()) }
        print("")
        var verdict = OracleVerdict(playbacks, samples, kills)
        let report = try await get(gateway, "/v1/rooms/\(Self.room)/viewership")
        // The sessions are settled, so the report that is read first cannot be older than the summary that is read
        // last.
        let summary = try await end(gateway)
        let sessions = try await sessions(gateway)
        if let details { try OracleDetails(start: start, playbacks, samples, sessions, kills).write(to: details) }
        verdict.judge(summary: summary, sessions: sessions, report: report)
        if let last = samples.last, last.total != 0 { throw ToolFailure("\(last.total) are still counted at the end") }
        guard verdict.isGood else { throw ToolFailure("a guarantee was broken") }
    }

    /// Issues the relay token that the content network presents, by the `token` command as an operator does.
    private func relayToken(of gateway: GatewayProcess) async throws -> String {
        let footlight = try program.binary ?? GatewayProcess.findBinary()
        let arguments = ["token", "--data-dir", gateway.dataFolder, "--role", "relay", "--identity", "cdn"]
        let token = try await ChildProcess.run([footlight] + arguments + ["--expires", "1d"])
        return token.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Takes a sample each second until the end, and kills the gateway at even intervals.
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
                // At a random moment between two samples.
                try await Task.sleep(for: .seconds(.random(in: 0...1)))
                let killed = MonotonicTime.now().seconds(since: start)
                try await gateway.kill9()
                try await gateway.start(reusesPorts: true)
                let listening = MonotonicTime.now().seconds(since: start)
                done.append(OracleTruth.Kill(killed: killed, listening: listening))
                print("\(killed.text(1)) s: killed, and listening again after \((listening - killed).text(2)) s")
            }
            let logged = push?.deliveredUntil
            let sample = try await OracleSample(gateway, room: Self.room, start: start, logged: logged)
            samples.append(sample)
            if second % 10 == 0 { printStatus(sample) }
            if now > script.end + tail { return (samples, done) }
            second = max(second + 1, Int(MonotonicTime.now().seconds(since: start)))
        }
    }

    /// Ends the broadcast.
    ///
    /// - Returns: The stored summary, with the end of the broadcast.
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

    private func printStatus(_ figures: OracleLogPush.Figures) {
        let lines = figures.lines.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        print("\(figures.bundles) log bundles, \(figures.pushedTwice) pushed twice, \(figures.failures) pushes failed;")
        print("lines: \(lines)")
    }

    private func printStatus(_ sample: OracleSample) {
        let parts = OraclePlayback.Kind.allCases.map { "\($0) \(sample.byKind[$0] ?? -1)" }.joined(separator: ", ")
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

/// A room whose program this process publishes, as a mixer does; the push reconnects after a restart of the gateway.
final class OracleProgram {
    private let push: RTMPPush
    private let feed: LiveFeed

    /// Creates the room, and returns when its program can be played by every protocol.
    ///
    /// - Parameter kilobits: Kilobits per second, audio included.
    init(room: String, _ gateway: GatewayProcess, kilobits: Int) async throws {
        try await gateway.makeRoom(room)
        let push = RTMPPush(
            name: "program",
            address: try gateway.programAddress(of: room),
            policy: TargetPolicy(allowsPrivateAddresses: true)
        )
        let clip = try await Clip.program(hasAudio: true, seconds: 10, kilobits: kilobits)
        push.start()
        feed = try LiveFeed(clip) { push.receive($0) }
        self.push = push
        let isPlayable = try await eventually(within: .seconds(15), every: .milliseconds(100)) {
            let path = "/live/\(room)/index.m3u8"
            return try await gateway.request("GET", port: gateway.endpoints.httpPort, path).status == 200
        }
        guard isPlayable else {
            stop()
            throw ToolFailure("no program is published", log: gateway.log)
        }
    }

    func stop() {
        feed.stop()
        push.stop()
    }
}
