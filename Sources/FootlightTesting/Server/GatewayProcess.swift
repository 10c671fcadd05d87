import Foundation
import Glibc
import Synchronization

/// The built `footlight serve` as a process of its own, on free ports of 127.0.0.1, with a data folder of its own.
///
/// It and all that it started is ended with the value. Failures carry the last lines of its log.
public final class GatewayProcess: Sendable {
    /// Where the gateway says it listens (`endpoints.json`).
    public struct Endpoints: Sendable, Decodable, Equatable {
        enum CodingKeys: String, CodingKey {
            case rtmpPort = "rtmp_port"
            case httpPort = "http_port"
            case adminPort = "admin_port"
            case pid
        }

        /// RTMP in and out.
        public var rtmpPort: Int
        /// HTTP-FLV, HLS and the control interface.
        public var httpPort: Int
        /// Metrics and health.
        public var adminPort: Int
        /// The process id of the gateway.
        public var pid: Int32
    }

    /// The settings that tests usually need: what a test says of them itself wins.
    ///
    /// A build for tests costs more than one for use, the far ends of tests are on this machine, and all players, hosts and
    /// commands come from one address.
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
        /// Generations that were killed; their orphans, if any, are ended with the value.
        var former: [ChildProcess] = []
    }

    /// The data folder; it stays the same through all restarts.
    public let dataFolder: String

    private let folder: TemporaryFolder
    private let command: String
    private let arguments: [String]
    private let environment: [String: String]
    private let binary: String
    private let limiter: [String]
    private let sockets: KeptSockets?
    private let state = Mutex(State())

    /// Starts the gateway and waits until it listens.
    ///
    /// - Parameters:
    ///   - command: What `footlight` is told to do; `demo` listens as well.
    ///   - arguments: More arguments of the command; of an option given twice these are the later ones.
    ///   - environment: Variables on top of this process's own and of what tests usually set.
    ///   - binary: The program; the one beside the running test bundle when nil.
    ///   - descriptors: How many files and connections it may have open; as many as this process when nil.
    ///   - sockets: Those it is to listen with, for RTMP, HTTP and the admin port; it opens its own when nil.
    ///   - deadline: How long it may take to listen.
    /// - Throws: `ToolFailure` with the gateway's log when it does not come up.
    public init(
        command: String = "serve",
        arguments: [String] = [],
        environment: [String: String] = [:],
        binary: String? = nil,
        descriptors: Int? = nil,
        sockets: KeptSockets? = nil,
        within deadline: Duration = .seconds(15)
    ) async throws {
        self.sockets = sockets
        folder = try TemporaryFolder("gateway")
        dataFolder = folder.file("data")
        self.command = command
        self.arguments = arguments
        self.environment = environment
        limiter = descriptors.map { ["prlimit", "--nofile=\($0):\($0)"] } ?? []
        self.binary = try binary ?? GatewayProcess.findBinary()
        try FileManager.default.createDirectory(atPath: dataFolder, withIntermediateDirectories: true)
        try await start(within: deadline)
    }

    deinit { end() }

    /// Starts the gateway on the same data folder, with new free ports unless `keepsPorts`.
    ///
    /// - Throws: `ToolFailure` when it runs already or does not come up.
    public func start(keepsPorts: Bool = false, within deadline: Duration = .seconds(15)) async throws {
        guard !isRunning else { throw ToolFailure("the gateway runs already") }
        let before = keepsPorts ? endpoints : nil
        let ports = sockets?.ports ?? [before?.rtmpPort ?? 0, before?.httpPort ?? 0, before?.adminPort ?? 0]
        // The id of its process is known to a process alone, before it becomes another program.
        let opener = sockets == nil ? [] : ["/bin/sh", "-c", "LISTEN_PID=$$ exec \"$@\"", "sh"]
        let listening = sockets.map { ["LISTEN_FDS": "\($0.ports.count)"] } ?? [:]
        let file = dataFolder + "/endpoints.json"
        if FileManager.default.fileExists(atPath: file) { try FileManager.default.removeItem(atPath: file) }
        let child = try ChildProcess(
            opener + limiter + [
                binary, command, "--data-dir", dataFolder, "--host", "127.0.0.1",
                "--rtmp-port", "\(ports[0])", "--http-port", "\(ports[1])", "--admin-port", "\(ports[2])",
            ] + arguments,
            environment: Self.usualEnvironment.merging(environment) { $1 }.merging(listening) { $1 },
            logFolder: folder.path,
            sockets: sockets
        )
        state.withLock { state in
            if let child = state.child { state.former.append(child) }
            state.child = child
        }
        var found: Endpoints?
        _ = try await eventually(within: deadline) {
            // The file may be seen half written; the next look sees it whole.
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

    /// Where the gateway listens, or listened last.
    public var endpoints: Endpoints {
        state.withLock { $0.endpoints } ?? Endpoints(rtmpPort: 0, httpPort: 0, adminPort: 0, pid: 0)
    }

    /// Whether the gateway's process is there.
    public var isRunning: Bool { state.withLock { $0.child }?.isRunning ?? false }

    /// What the gateway and its mixers have logged, all generations one after the other.
    public var log: String {
        state.withLock { $0.child }.map { $0.standardOutput + $0.standardError } ?? ""
    }

    /// Kills the gateway alone with SIGKILL; what it started is left to itself.
    public func kill9() async throws {
        let child = state.withLock { $0.child }
        child?.signal(SIGKILL)
        _ = try await child?.wait(.seconds(5))
    }

    /// Asks the gateway to stop with SIGTERM and waits.
    ///
    /// - Returns: How it ended by itself; nil when it had to be killed.
    @discardableResult
    public func terminate(within deadline: Duration = .seconds(10)) async throws -> ChildProcess.Exit? {
        let child = state.withLock { $0.child }
        return try await child?.stop(within: deadline)
    }

    /// Ends the gateway of all generations and all that they started, at once.
    public func end() {
        let children = state.withLock { state in
            defer { state.former = [] }
            return state.former + [state.child].compactMap { $0 }
        }
        for child in children { child.end() }
    }

    /// The process ids of the mixers that run.
    ///
    /// - Parameter room: Only those with this word in their arguments; all when nil.
    public func mixers(of room: String? = nil) -> [Int32] {
        let descendants = state.withLock { $0.child }?.descendants ?? []
        return descendants.filter { pid in
            let arguments = RunningProcess.arguments(of: pid)
            guard arguments.contains("mixer") else { return false }
            return room.map { room in arguments.contains { $0.contains(room) } } ?? true
        }
    }

    /// The built program: what `FOOTLIGHT_BINARY` names, or else the one beside the running test bundle.
    ///
    /// - Throws: `ToolFailure` with the places that were looked at.
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
