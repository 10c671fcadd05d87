import FootlightTesting
import Foundation
import FoundationNetworking
import Glibc
import Synchronization

/// The built `footlight serve` as a process on free ports of 127.0.0.1, with its own data folder.
///
/// It ends with the value, including all its descendants. Failures contain the last lines of its log.
public final class GatewayProcess: Sendable {
    /// The listening ports of the gateway (`endpoints.json`).
    public struct Endpoints: Sendable, Decodable, Equatable {
        enum CodingKeys: String, CodingKey {
            case rtmpPort = "rtmp_port"
            case httpPort = "http_port"
            case adminPort = "admin_port"
            case rtmpsPort = "rtmps_port"
            case httpsPort = "https_port"
            case pid
        }

        /// The RTMP port for ingest and playback.
        public var rtmpPort: Int
        /// The port of HTTP-FLV, HLS and the control API.
        public var httpPort: Int
        /// The port of metrics and health checks.
        public var adminPort: Int
        /// The RTMPS port; nil without one.
        public var rtmpsPort: Int?
        /// The HTTPS port; nil without one.
        public var httpsPort: Int?
        /// The process ID of the gateway.
        public var pid: Int32
    }

    /// The default settings of tests, which a test's own settings override.
    ///
    /// Debug builds are slower, peers are on this machine, and all players, hosts and commands share one address.
    private static let usualEnvironment = [
        "FOOTLIGHT_LIMITS_CPU_CEILING": "0", "FOOTLIGHT_LIMITS_REQUESTS": "0", "FOOTLIGHT_LIMITS_CONNECTIONS": "0",
        "FOOTLIGHT_LIMITS_PLAYERS": "0", "FOOTLIGHT_LIMITS_WAITING": "0", "FOOTLIGHT_LIMITS_SESSIONS": "0",
        "FOOTLIGHT_LIMITS_VIEWERS": "0", "FOOTLIGHT_LIMITS_STREAMS": "0", "FOOTLIGHT_OUTPUTS_ALLOW_PRIVATE": "true",
        "FOOTLIGHT_ASSETS_ALLOW_PRIVATE": "true", "FOOTLIGHT_WEBHOOKS_ALLOW_PRIVATE": "true",
        "FOOTLIGHT_WEBHOOKS_ALLOW_HTTP": "true",
    ]

    private struct State {
        var child: ChildProcess?
        var endpoints: Endpoints?
        /// The killed processes; their orphans are ended with the value.
        var former: [ChildProcess] = []
    }

    /// The data folder, which is the same across restarts.
    public let dataFolder: String

    private let folder: TemporaryFolder
    private let command: String
    private let arguments: [String]
    private let environment: [String: String]
    private let binary: String
    private let limiter: [String]
    private let sockets: ListeningSockets?
    private let state = Mutex(State())

    /// Starts the gateway and waits until it listens.
    ///
    /// - Parameters:
    ///   - command: The `footlight` subcommand; `demo` listens as well.
    ///   - arguments: Further arguments, which override earlier ones.
    ///   - environment: Variables in addition to those of this process and the default settings; an empty one removes
    ///     such a setting.
    ///   - dataFolder: An existing data folder; a new temporary one if nil.
    ///   - binary: The program; the one beside the running test bundle if nil.
    ///   - descriptors: The descriptor limit; that of this process if nil.
    ///   - sockets: Listening sockets for the RTMP, HTTP and admin ports; the gateway opens its own if nil.
    ///   - deadline: The time in which it must listen.
    /// - Throws: `ToolFailure` with the gateway's log if it does not start.
    public init(
        command: String = "serve",
        arguments: [String] = [],
        environment: [String: String] = [:],
        dataFolder: String? = nil,
        binary: String? = nil,
        descriptors: Int? = nil,
        sockets: ListeningSockets? = nil,
        within deadline: Duration = .seconds(15)
    ) async throws {
        self.sockets = sockets
        folder = try TemporaryFolder("gateway")
        self.dataFolder = dataFolder ?? folder.file("data")
        self.command = command
        self.arguments = arguments
        self.environment = environment
        limiter = descriptors.map { ["prlimit", "--nofile=\($0):\($0)"] } ?? []
        self.binary = try binary ?? GatewayProcess.findBinary()
        try FileManager.default.createDirectory(atPath: self.dataFolder, withIntermediateDirectories: true)
        try await start(within: deadline)
    }

    deinit { end() }

    /// Starts the gateway on the same data folder, with new free ports unless `reusesPorts`.
    ///
    /// - Throws: `ToolFailure` if it is running or does not start.
    public func start(reusesPorts: Bool = false, within deadline: Duration = .seconds(15)) async throws {
        guard !isRunning else { throw ToolFailure("the gateway runs already") }
        let before = reusesPorts ? endpoints : nil
        let ports = sockets?.ports ?? [before?.rtmpPort ?? 0, before?.httpPort ?? 0, before?.adminPort ?? 0]
        // LISTEN_PID must be the ID of the process itself, so a shell sets it before exec.
        let opener = sockets == nil ? [] : ["/bin/sh", "-c", "LISTEN_PID=$$ exec \"$@\"", "sh"]
        let listening = sockets.map { ["LISTEN_FDS": "\($0.ports.count)"] } ?? [:]
        let file = dataFolder + "/endpoints.json"
        if FileManager.default.fileExists(atPath: file) { try FileManager.default.removeItem(atPath: file) }
        let child = try ChildProcess(
            opener + limiter + [
                binary, command, "--data-dir", dataFolder, "--host", "127.0.0.1",
                "--rtmp-port", "\(ports[0])", "--http-port", "\(ports[1])", "--admin-port", "\(ports[2])",
            ] + arguments,
            environment: Self.usualEnvironment.merging(environment) { $1 }.merging(listening) { $1 }
                .filter { !$0.value.isEmpty },
            logFolder: folder.path,
            sockets: sockets
        )
        state.withLock { state in
            if let child = state.child { state.former.append(child) }
            state.child = child
        }
        var found: Endpoints?
        _ = try await eventually(within: deadline) {
            // The file may be read while it is being written; the next attempt reads it completely.
            found = FileManager.default.contents(atPath: file)
                .flatMap { try? JSONDecoder().decode(Endpoints.self, from: $0) }
            return found != nil || !child.isRunning
        }
        guard let found else {
            let outcome = child.exit.map { "ended with \($0)" } ?? "wrote no endpoints.json within \(deadline)"
            child.end()
            throw ToolFailure("the gateway \(outcome)", log: log)
        }
        state.withLock { $0.endpoints = found }
    }

    /// The current listening ports, or the last ones.
    public var endpoints: Endpoints {
        state.withLock { $0.endpoints } ?? Endpoints(rtmpPort: 0, httpPort: 0, adminPort: 0, pid: 0)
    }

    /// Whether the gateway's process is running.
    public var isRunning: Bool { state.withLock { $0.child }?.isRunning ?? false }

    /// The output of the gateway and its mixers, including earlier processes.
    public var log: String {
        state.withLock { $0.child }.map { $0.standardOutput + $0.standardError } ?? ""
    }

    /// Kills the gateway with SIGKILL, but not its descendants.
    public func kill9() async throws {
        let child = state.withLock { $0.child }
        child?.signal(SIGKILL)
        _ = try await child?.wait(.seconds(5))
    }

    /// Sends SIGTERM to the gateway and waits.
    ///
    /// - Returns: The exit; nil if it had to be killed.
    @discardableResult
    public func terminate(within deadline: Duration = .seconds(10)) async throws -> ChildProcess.Exit? {
        let child = state.withLock { $0.child }
        return try await child?.stop(within: deadline)
    }

    /// Kills all gateway processes and their descendants.
    public func end() {
        let children = state.withLock { state in
            defer { state.former = [] }
            return state.former + [state.child].compactMap { $0 }
        }
        for child in children { child.end() }
    }

    /// Returns the process IDs of the running mixers.
    ///
    /// - Parameter room: Restricts the result to mixers with this word in their arguments.
    public func mixers(of room: String? = nil) -> [Int32] {
        let descendants = state.withLock { $0.child }?.descendants ?? []
        return descendants.filter { pid in
            let arguments = RunningProcess.arguments(of: pid)
            guard arguments.contains("mixer") else { return false }
            return room.map { room in arguments.contains { $0.contains(room) } } ?? true
        }
    }

    /// Returns the built program: `FOOTLIGHT_BINARY`, or else the one beside the running test bundle.
    ///
    /// - Throws: `ToolFailure` with the searched paths.
    public static func findBinary() throws -> String {
        let running = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let beside = running.split(separator: "/").dropLast().map { "/" + $0 }.joined()
        let candidates =
            [ProcessInfo.processInfo.environment["FOOTLIGHT_BINARY"]].compactMap { $0 }
            + [beside, FileManager.default.currentDirectoryPath + "/.build/debug"].map { $0 + "/footlight" }
        guard let found = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
            throw ToolFailure("no built footlight among \(candidates.joined(separator: ", "))")
        }
        return found
    }
}

extension GatewayProcess {
    /// The operator token, which the gateway wrote at its first start.
    public var operatorToken: String {
        get throws {
            try String(contentsOfFile: dataFolder + "/operator.token", encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    /// Returns the RTMP URL for a stream key.
    public func ingestURL(key: String) -> String { "rtmp://127.0.0.1:\(endpoints.rtmpPort)/live/\(key)" }

    /// Returns the RTMP playback URL of a room's program.
    public func rtmpURL(room: String) -> String { "rtmp://127.0.0.1:\(endpoints.rtmpPort)/live/\(room)" }

    /// Returns the HTTP-FLV playback URL of a room's program.
    public func flvURL(room: String) -> String { "http://127.0.0.1:\(endpoints.httpPort)/live/\(room).flv" }

    /// Returns the HLS playback URL of a room's program.
    public func hlsURL(room: String) -> String { "http://127.0.0.1:\(endpoints.httpPort)/live/\(room)/index.m3u8" }

    /// Sends a request to the control API.
    ///
    /// - Parameters:
    ///   - method: The method, such as `POST`.
    ///   - path: The path, such as `/v1/rooms`.
    ///   - body: The JSON body, or nil.
    ///   - token: The access token; the operator's if nil, no authorization if empty.
    @discardableResult
    public func api(
        _ method: String,
        _ path: String,
        _ body: JSONValue? = nil,
        token: String? = nil
    ) async throws -> GatewayResponse {
        var headers: [String: String] = [:]
        let token = try token ?? operatorToken
        if !token.isEmpty { headers["Authorization"] = "Bearer " + token }
        if body != nil { headers["Content-Type"] = "application/json" }
        return try await request(method, port: endpoints.httpPort, path, headers: headers, body: body?.text)
    }

    /// Sends a request to one of the gateway's HTTP ports.
    ///
    /// - Throws: `ToolFailure` with the gateway's log if there is no response within ten seconds.
    public func request(
        _ method: String,
        port: Int,
        _ path: String,
        headers: [String: String] = [:],
        body: String? = nil
    ) async throws -> GatewayResponse {
        guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { throw ToolFailure("no URL: \(path)") }
        var request = URLRequest(url: url, timeoutInterval: 10)
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        do {
            let (data, response) = try await URLSession.shared.data(for: request)
            guard let response = response as? HTTPURLResponse else { throw ToolFailure("\(path): no HTTP answer") }
            var fields: [String: String] = [:]
            for (name, value) in response.allHeaderFields {
                fields[String(describing: name).lowercased()] = String(describing: value)
            }
            let text = String(decoding: data, as: UTF8.self)
            return GatewayResponse(status: response.statusCode, headers: fields, text: text)
        } catch {
            throw ToolFailure("\(method) \(path): \(error)", log: log)
        }
    }

    /// Runs `footlight token` and returns an access token for a participant of one room.
    public func issueToken(room: String, identity: String, mode: String) async throws -> String {
        try await ChildProcess.run([
            Self.findBinary(), "token", "--data-dir", dataFolder, "--room", room, "--identity", identity, "--mode",
            mode,
        ]).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

/// A response of the gateway's HTTP server.
public struct GatewayResponse: Sendable {
    /// The status code.
    public var status: Int
    /// The header fields, with lowercase names.
    public var headers: [String: String]
    /// The body as text.
    public var text: String

    /// The body as JSON; `null` if it is invalid.
    public var json: JSONValue { (try? JSONValue(parsing: text)) ?? .null }
}
