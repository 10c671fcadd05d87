import FootlightTesting
import Foundation
import Logging
import Persistence
import Stage
import Synchronization
import TestSupport
import Testing

@Suite("Revoked token store", .enabled(if: TestRun.isFull))
struct RevokedTokenStoreTests {
    private static let tokens = [
        RevokedToken(id: "one", identity: "ann", role: "operator", revokedAt: 1.5, revokedBy: "grace", expiresAt: 9.25),
        RevokedToken(id: "sha256-x", revokedAt: 2, revokedBy: "ada", expiresAt: 10),
    ]

    private func store(_ folder: TemporaryFolder) -> RevokedTokenStore {
        RevokedTokenStore(
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
}
