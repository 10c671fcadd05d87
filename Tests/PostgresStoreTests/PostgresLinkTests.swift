import FootlightTesting
import Logging
import Media
import TestSupport
import Testing

@testable import PostgresStore

@Suite("Link to PostgreSQL", .enabled(if: TestRun.isFull && PostgresServers.programs != nil))
struct PostgresLinkTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func link(_ connection: String, timeout: Int64 = 5000, limit: Int = 64) throws -> PostgresLink {
        try PostgresLink(.init(connection: connection, timeout: timeout, queueLimit: limit), logger: logger)
    }

    private func fault(_ link: PostgresLink, _ sql: String) async -> PostgresFault? {
        do {
            _ = try await link.execute(PostgresStatement(sql))
            return nil
        } catch {
            return error
        }
    }

    @Test("statements return rows, arrays survive all characters, and a refused one leaves the connection usable")
    func statements() async throws {
        let servers = try await PostgresServers(hasStandby: false)
        let link = try link(servers.connection(0))
        let texts = ["", "a b", "\"quoted\"", "back\\slash", "{brace},", "NULL", "ünï 漢字 🎬", "line\nend"]
        let statement = PostgresStatement(
            "SELECT t, NULL, length(t) FROM unnest($1::text[]) AS t",
            [PostgresStatement.array(texts)]
        )
        let rows = try await link.execute(statement)
        #expect(rows.map { $0[0] } == texts)
        #expect(rows.map { $0[1] } == texts.map { _ in nil })
        guard case .refused("42P01", _) = await fault(link, "SELECT * FROM missing") else {
            Issue.record("not refused")
            return
        }
        let backend = PostgresStatement("SELECT pg_backend_pid(), current_setting('synchronous_commit')")
        let first = try await link.execute(backend)
        #expect(first[0][1] == "on")
        await #expect(throws: PostgresFault.invalid("an argument contains a null character")) {
            try await link.execute(PostgresStatement("SELECT $1::text", ["a\0b"]))
        }
        #expect(try await link.execute(backend) == first)
    }

    @Test("connection strings that cannot be used are refused without a quotation of the password")
    func invalid() throws {
        for text in ["host=a,b port=1,2,3 password=secret", "host=a hostaddr=1.1.1.1,2.2.2.2", "password=secret =x"] {
            let error = #expect(throws: PostgresFault.self) { try link(text) }
            #expect(error.map { !"\($0)".contains("secret") } == true)
        }
    }

    @Test("a server that stops answering is given up in time, waiting statements are limited, and the link recovers")
    func deadlines() async throws {
        let servers = try await PostgresServers(hasStandby: false)
        let link = try link(servers.connection(0), timeout: 600, limit: 4)
        #expect(await fault(link, "SELECT 1") == nil)
        servers.setStopped(true, 0)
        let begin = MonotonicTime.now()
        let faults = await withTaskGroup(of: PostgresFault?.self) { group in
            for _ in 0..<20 { group.addTask { await fault(link, "SELECT 1") } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(MonotonicTime.now().seconds(since: begin) < 1.5)
        #expect(faults.count { $0 == .overloaded } >= 15)
        #expect(!faults.contains(nil))
        servers.setStopped(false, 0)
        #expect(try await eventually(within: .seconds(5)) { await fault(link, "SELECT 1") == nil })
    }

    @Test(
        "the session of a role whose default is local still waits for the standby, and a cancelled wait is no success"
    )
    func standbyIsAwaited() async throws {
        let servers = try await PostgresServers()
        try await servers.query("CREATE TABLE t (n int)", on: 0)
        try await servers.query("ALTER ROLE postgres SET synchronous_commit = local", on: 0)
        let link = try link(servers.connection(0), timeout: 1000)
        #expect(await fault(link, "INSERT INTO t VALUES (1)") == nil)
        try await servers.killStandby()
        guard case .unavailable = await fault(link, "INSERT INTO t VALUES (2)") else {
            Issue.record("acknowledged without the standby")
            return
        }
        let patient = try self.link(servers.connection(0), timeout: 10_000)
        async let answer = fault(patient, "INSERT INTO t VALUES (3)")
        let cancel = """
            SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity
            WHERE wait_event = 'SyncRep' AND query LIKE 'INSERT INTO t VALUES (3)%'
            """
        #expect(try await eventually { try await servers.query(cancel, on: 0) == "1" })
        #expect(await answer == .unavailable("the server executed the statement with a warning"))
    }

    @Test("abandoned sessions that wait for a standby do not use up the connections of the server")
    func waitingSessions() async throws {
        let servers = try await PostgresServers()
        try await servers.query("CREATE TABLE t (n int)", on: 0)
        try await servers.killStandby()
        let link = try link(servers.connection(0), timeout: 100)
        for _ in 0..<25 { #expect(await fault(link, "INSERT INTO t VALUES (1)") != nil) }
        let waiting = try await servers.query(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
            on: 0
        )
        #expect((1...9).contains(Int(waiting) ?? 0), "\(waiting) sessions wait")
        try await servers.query("ALTER SYSTEM SET synchronous_standby_names = ''", on: 0)
        try await servers.query("SELECT pg_reload_conf()", on: 0)
    }

    @Test("a transaction is committed as a whole, or not at all")
    func transactions() async throws {
        let servers = try await PostgresServers(hasStandby: false)
        let link = try link(servers.connection(0))
        try await servers.query("CREATE TABLE t (n int PRIMARY KEY)", on: 0)
        let sum = try link.transactionAndWait { (transaction) throws(PostgresFault) in
            for number in 1...3 { try transaction.run("INSERT INTO t VALUES ($1::int)", ["\(number)"]) }
            return try transaction.run("SELECT sum(n) FROM t")
        }
        #expect(sum == [["6"]])
        var error = #expect(throws: PostgresFault.self) {
            try link.transactionAndWait { (transaction) throws(PostgresFault) in
                try transaction.run("INSERT INTO t VALUES (4)")
                try transaction.run("INSERT INTO t VALUES (1)")
            }
        }
        guard case .refused("23505", _) = error else {
            Issue.record("not refused: \(String(describing: error))")
            return
        }
        // A body that goes on after a refusal.
        error = #expect(throws: PostgresFault.self) {
            try link.transactionAndWait { (transaction) throws(PostgresFault) in
                try transaction.run("INSERT INTO t VALUES (4)")
                _ = try? transaction.run("INSERT INTO t VALUES (1)")
            }
        }
        guard case .refused("25P02", _) = error else {
            Issue.record("not refused: \(String(describing: error))")
            return
        }
        _ = #expect(throws: PostgresFault.invalid("an argument contains a null character")) {
            try link.transactionAndWait { (transaction) throws(PostgresFault) in
                try transaction.run("INSERT INTO t VALUES (4)")
                try transaction.run("SELECT $1", ["\0"])
            }
        }
        #expect(try link.executeAndWait(PostgresStatement("SELECT count(*) FROM t")) == [["3"]])
    }

    @Test("sessions that wait for the lock of an abandoned one end by themselves")
    func lockedRow() async throws {
        let servers = try await PostgresServers()
        try await servers.query("CREATE TABLE t (n int)", on: 0)
        try await servers.query("INSERT INTO t VALUES (1)", on: 0)
        try await servers.killStandby()
        let link = try link(servers.connection(0), timeout: 100)
        // The first one keeps the row locked while it waits for the standby.
        for _ in 0..<40 { #expect(await fault(link, "UPDATE t SET n = 2") != nil) }
        let sessions = try await servers.query(
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'UPDATE%'",
            on: 0
        )
        #expect((1...6).contains(Int(sessions) ?? 0), "\(sessions) sessions")
        try await servers.query("ALTER SYSTEM SET synchronous_standby_names = ''", on: 0)
        try await servers.query("SELECT pg_reload_conf()", on: 0)
    }

    @Test("verify-full accepts the right certificate only, and no server without encryption")
    func encryption() async throws {
        let folder = try TemporaryFolder("certificates")
        let certificates = try await TestCertificates(in: folder.path)
        try await certificates.issue("server", for: "localhost")
        let otherFolder = try TemporaryFolder("certificates")
        let others = try await TestCertificates(in: otherFolder.path)
        let servers = try await PostgresServers(hasStandby: false, certificates: certificates)
        func settings(_ authority: String) -> String { "sslmode=verify-full sslrootcert=\(authority)" }

        let good = try link(servers.connection(0, settings: settings(certificates.authority)))
        let query = PostgresStatement("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
        #expect(try await good.execute(query) == [["t"]])
        let bad = try link(servers.connection(0, settings: settings(others.authority)))
        #expect(await fault(bad, "SELECT 1")?.description.contains("certificate verify failed") == true)
        let wrongName = "host=other.example hostaddr=127.0.0.1 port=\(servers.ports[0]) user=postgres dbname=postgres "
        let misnamed = try link(wrongName + settings(certificates.authority))
        #expect(await fault(misnamed, "SELECT 1")?.description.contains("does not match host name") == true)
        let plain = try await PostgresServers(hasStandby: false)
        let unencrypted = try link(plain.connection(0, settings: settings(certificates.authority)))
        #expect(await fault(unencrypted, "SELECT 1")?.description.contains("does not support SSL") == true)
    }
}
