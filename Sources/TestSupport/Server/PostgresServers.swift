import FootlightTesting
import Foundation
import Glibc
import Synchronization

/// A PostgreSQL primary of a test's own, and its synchronous standby, in a temporary folder.
///
/// The servers run as the user postgres when the tests run as root, which PostgreSQL refuses.
public final class PostgresServers: Sendable {
    /// The programs of the newest installed version; nil without one.
    public static let programs: String? = {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return versions.compactMap { Int($0) }.max().map { "\(root)/\($0)/bin" }
    }()

    /// The ports; the first one is the primary's at the start.
    public let ports: [Int]
    private let folder: TemporaryFolder
    private let processes = Mutex<[Int: ChildProcess]>([:])
    private let databaseCount = Atomic(0)

    /// Starts the primary, and the standby if there is to be one.
    ///
    /// - Parameters:
    ///   - hasStandby: Whether there is a synchronous standby.
    ///   - options: Further settings of the primary.
    ///   - certificates: Those of TLS, `server.pem` among them; nil for none.
    public init(hasStandby: Bool = true, options: [String] = [], certificates: TestCertificates? = nil) async throws {
        ports = try FreePort.pick(2)
        folder = try TemporaryFolder("postgres")
        try Self.giveToServer(folder.path)
        try await Self.run(
            ["initdb", "--pgdata", data(0), "--auth", "trust", "--username", "postgres", "--no-sync", "--no-locale"]
                + ["--encoding", "UTF8"]
        )
        var options = options
        if let certificates {
            for name in ["server.pem", "server.key"] {
                let path = folder.file(name)
                try FileManager.default.copyItem(atPath: certificates.path(name), toPath: path)
                try Self.giveToServer(path)
                chmod(path, 0o600)
            }
            options += [
                "ssl=on", "ssl_cert_file=\(folder.file("server.pem"))", "ssl_key_file=\(folder.file("server.key"))",
            ]
        }
        try await start(0, options: options + (hasStandby ? ["synchronous_standby_names=standby"] : []))
        guard hasStandby else { return }
        try await Self.run(
            ["pg_basebackup", "--host", "127.0.0.1", "--port", "\(ports[0])", "--username", "postgres", "--no-sync"]
                + ["--pgdata", data(1), "--checkpoint", "fast", "--wal-method", "stream", "--write-recovery-conf"]
        )
        try await start(1, options: ["cluster_name=standby"])
        let query = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
        guard try await eventually({ try await self.query(query, on: 0) == "1" }) else {
            throw ToolFailure("the standby is not synchronous", log: log(of: 1))
        }
    }

    deinit {
        // The data of a running server cannot be removed.
        for process in processes.withLock({ $0.values }) { process.end() }
    }

    /// The connection string of a server, or of both.
    public func connection(_ servers: Int..., database: String = "postgres", settings: String = "") -> String {
        let hosts = servers.map { _ in "127.0.0.1" }.joined(separator: ",")
        let list = servers.map { "\(ports[$0])" }.joined(separator: ",")
        return "host=\(hosts) port=\(list) user=postgres dbname=\(database) \(settings)"
    }

    /// Creates a database of a test's own on the primary, and returns its name.
    public func createDatabase() async throws -> String {
        let name = "test\(databaseCount.wrappingAdd(1, ordering: .relaxed).newValue)"
        try await query("CREATE DATABASE \(name)", on: 0)
        return name
    }

    /// Executes SQL by psql and returns the answer without the last line end.
    @discardableResult
    public func query(_ sql: String, on server: Int) async throws -> String {
        let connection = connection(server, settings: "connect_timeout=5")
        let output = try await ChildProcess.run(["psql", "--no-psqlrc", "-qAt", "-d", connection, "-c", sql])
        return output.trimmingCharacters(in: .newlines)
    }

    /// Kills the standby, and waits until the primary has noticed.
    public func killStandby() async throws {
        kill(1)
        let isGone = try await eventually {
            try await self.query("SELECT count(*) FROM pg_stat_replication", on: 0) == "0"
        }
        if !isGone { throw ToolFailure("the standby is still connected") }
    }

    /// Kills a server and all its processes.
    public func kill(_ server: Int) {
        processes.withLock { $0.removeValue(forKey: server) }?.end()
    }

    /// Stops all processes of a server (SIGSTOP), or lets them go on.
    public func setStopped(_ isStopped: Bool, _ server: Int) {
        guard let process = processes.withLock({ $0[server] }) else { return }
        let signal = isStopped ? SIGSTOP : SIGCONT
        for pid in [process.pid] + process.descendants { _ = Glibc.kill(pid, signal) }
    }

    /// Makes the standby the primary.
    public func promote() async throws {
        try await Self.run(["pg_ctl", "promote", "--pgdata", data(1), "--wait", "--timeout", "20"])
    }

    /// Starts a server that was created before.
    public func start(_ server: Int, options: [String] = []) async throws {
        let fixed = [
            "port=\(ports[server])", "listen_addresses=127.0.0.1", "unix_socket_directories=", "shared_buffers=16MB",
            "fsync=off", "max_connections=40", "wal_receiver_timeout=3s", "wal_sender_timeout=3s", "jit=off",
        ]
        let process = try ChildProcess(
            Self.asServer(["postgres", "-D", data(server)] + (fixed + options).flatMap { ["-c", $0] })
        )
        processes.withLock { $0[server] = process }
        let isReady = try await eventually(every: .milliseconds(50)) {
            if let exit = process.exit { throw ToolFailure("the server ended: \(exit)", log: process.standardError) }
            return (try? await self.query("SELECT 1", on: server)) == "1"
        }
        if !isReady { throw ToolFailure("the server does not answer", log: process.standardError) }
    }

    private func data(_ server: Int) -> String { folder.file("data\(server)") }

    private func log(of server: Int) -> String { processes.withLock { $0[server] }?.standardError ?? "" }

    private static func run(_ arguments: [String]) async throws {
        try await ChildProcess.run(asServer(arguments))
    }

    private static func asServer(_ arguments: [String]) -> [String] {
        let program = [(programs ?? "") + "/" + (arguments.first ?? "")] + arguments.dropFirst()
        guard geteuid() == 0 else { return program }
        return ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"] + program
    }

    private static func giveToServer(_ path: String) throws {
        guard geteuid() == 0 else { return }
        try FileManager.default.setAttributes([.ownerAccountName: "postgres"], ofItemAtPath: path)
    }
}
