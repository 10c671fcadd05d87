import FootlightTesting
import Foundation
import GRDB
import Logging
import Stage
import Synchronization
import TestSupport
import Testing

@testable import Persistence

@Suite("Token store", .enabled(if: TestRun.isFull))
struct TokenStoreTests {
    private static let tokens = [
        RevokedToken(id: "one", identity: "ann", role: "operator", revokedAt: 1.5, revokedBy: "grace", expiresAt: 9.25),
        RevokedToken(id: "sha256-x", revokedAt: 2, revokedBy: "ada", expiresAt: 10),
    ]

    private func store(_ folder: TemporaryFolder) -> TokenStore {
        TokenStore(
            path: folder.file("tokens.sqlite"),
            logger: Logger(label: "t") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    @Test("loads the last saved list without an orderly close")
    func persists() async throws {
        let folder = try TemporaryFolder("tokens")
        let first = store(folder)
        #expect(first.load().isEmpty)
        try await first.save { _ in [RevokedToken(id: "gone", revokedAt: 0, revokedBy: "x", expiresAt: 1)] }
        try await first.save { _ in Self.tokens }
        #expect(Set(store(folder).load()) == Set(Self.tokens))
        let mode = try FileManager.default.attributesOfItem(atPath: folder.file("tokens.sqlite"))[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test("quarantines a damaged file and saves to a new one")
    func damaged() async throws {
        let folder = try TemporaryFolder("tokens")
        try Data(repeating: 0x41, count: 8192).write(to: URL(fileURLWithPath: folder.file("tokens.sqlite")))
        let first = store(folder)
        #expect(first.load().isEmpty)
        try await first.save { _ in Self.tokens }
        #expect(Set(store(folder).load()) == Set(Self.tokens))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.contains { $0.hasPrefix("tokens.sqlite.damaged-") })
    }

    @Test("a probe reports a deleted, replaced or damaged file once, and rewrites the list")
    func probe() async throws {
        let folder = try TemporaryFolder("tokens")
        let path = folder.file("tokens.sqlite")
        let first = store(folder)
        _ = first.load()
        try await first.save { _ in Self.tokens }
        func probed() async -> String? {
            await withCheckedContinuation { done in first.probe({ _ in Self.tokens }) { done.resume(returning: $0) } }
        }
        #expect(await probed() == nil)
        let damages: [() throws -> Void] = [
            { try FileManager.default.removeItem(atPath: path) },
            {
                try FileManager.default.removeItem(atPath: path)
                try Data().write(to: URL(fileURLWithPath: path))
            },
            { try Data(repeating: 0x41, count: 8192).write(to: URL(fileURLWithPath: path)) },
        ]
        for (place, damage) in damages.enumerated() {
            try damage()
            #expect(await probed()?.contains("rewritten") == true, "\(place)")
            #expect(await probed() == nil, "\(place)")
            #expect(Set(store(folder).load()) == Set(Self.tokens), "\(place)")
        }
        try FileManager.default.removeItem(atPath: folder.path)
        #expect(await probed() != nil)
    }

    @Test("a list that cannot be read at startup is read later, and the next save includes it")
    func unread() async throws {
        let folder = try TemporaryFolder("tokens")
        try await store(folder).save { _ in Self.tokens }
        // Without a write-ahead log, a lock blocks readers too.
        let script = """
            import sqlite3, sys, time
            base = sqlite3.connect(sys.argv[1], isolation_level=None)
            base.execute('PRAGMA journal_mode=DELETE')
            base.execute('BEGIN EXCLUSIVE')
            print('locked', flush=True)
            time.sleep(60)
            """
        let holder = try ChildProcess(["python3", "-c", script, folder.file("tokens.sqlite")])
        #expect(try await eventually { holder.standardOutput.contains("locked") }, "\(holder.standardError)")
        let second = store(folder)
        #expect(second.load().isEmpty)
        holder.end()
        let newer = RevokedToken(id: "new", revokedAt: 3, revokedBy: "ada", expiresAt: 11)
        let found = Mutex<[RevokedToken]>([])
        try await second.save { earlier in
            found.withLock { $0 = earlier }
            return earlier + [newer]
        }
        #expect(Set(found.withLock { $0 }) == Set(Self.tokens))
        #expect(Set(store(folder).load()) == Set(Self.tokens + [newer]))
    }

    // MARK: Issued tokens

    private static func issued(_ id: String, at time: Double = 1, expires: Double = 4e9) -> IssuedToken {
        IssuedToken(
            id: id,
            identity: "ann",
            role: "participant",
            room: "show",
            issuedAt: time,
            issuedBy: "grace",
            expiresAt: expires
        )
    }

    @Test("lists issued tokens after a restart, the latest first, until they expire")
    func issued() async throws {
        let folder = try TemporaryFolder("tokens")
        let first = store(folder)
        var machine = Self.issued("machine", at: 3)
        machine.room = nil
        for token in [Self.issued("one"), Self.issued("soon", at: 2, expires: 3e9), machine] { first.add(token) }
        let listed = try await first.issued(after: 0)
        #expect(listed.map(\.id) == ["machine", "soon", "one"] && listed[0] == machine)
        let second = store(folder)
        #expect(try await second.issued(after: 0) == listed)
        #expect(try await second.issued(after: 3e9).map(\.id) == ["machine", "one"])
        try await second.save { _ in Self.tokens }
        #expect(try await store(folder).issued(after: 0) == listed && Set(store(folder).load()) == Set(Self.tokens))
    }

    @Test("beyond the capacity those leave the list that expire first, and expired ones before them")
    func capacity() throws {
        let folder = try TemporaryFolder("tokens")
        let database = try TokenDatabase(path: folder.file("tokens.sqlite"), lockTimeout: 0.5)
        let tokens = (0..<6).map { Self.issued("t\($0)", at: Double($0), expires: 100 + Double($0 % 3)) }
        try database.add(tokens, capacity: 4, now: 0)
        #expect(try database.issued(after: 0).map(\.id) == ["t5", "t4", "t2", "t1"])
        try database.add([Self.issued("new", at: 9, expires: 200)], capacity: 4, now: 101)
        #expect(try database.issued(after: 0).map(\.id) == ["new", "t5", "t2"])
    }

    @Test("a damaged file that an issued token meets costs no revocation")
    func damagedWhileIssuing() async throws {
        let folder = try TemporaryFolder("tokens")
        let first = store(folder)
        try await first.save { _ in Self.tokens }
        first.add(Self.issued("one"))
        _ = try await first.issued(after: 0)
        try Data(repeating: 0x41, count: 8192).write(to: URL(fileURLWithPath: folder.file("tokens.sqlite")))
        first.add(Self.issued("two"))
        #expect(try await first.issued(after: 0).map(\.id) == ["two"])
        await withCheckedContinuation { done in first.probe({ _ in Self.tokens }) { _ in done.resume() } }
        #expect(Set(store(folder).load()) == Set(Self.tokens))
        #expect(try await store(folder).issued(after: 0).map(\.id) == ["two"])
    }

    @Test("a file of before the list of issued tokens keeps its revocations")
    func migration() async throws {
        let folder = try TemporaryFolder("tokens")
        let queue = try DatabaseQueue(path: folder.file("tokens.sqlite"))
        try TokenDatabase.migrations.migrate(queue, upTo: "1 revoked tokens")
        try await queue.write { database in
            try database.execute(
                sql: "INSERT INTO revoked_token VALUES ('one', 'ann', 'operator', 1.5, 'grace', 9.25)"
            )
        }
        try queue.close()
        let store = store(folder)
        #expect(store.load() == [Self.tokens[0]])
        store.add(Self.issued("new"))
        #expect(try await store.issued(after: 0).map(\.id) == ["new"])
    }
}
