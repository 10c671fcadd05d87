import FootlightTesting
import Foundation
import Logging
import Stage
import TestSupport
import Testing
import Viewership

@testable import Gateway

@Suite("Rotation of the session id key")
struct SessionKeyRotationTests {
    private let start = Date(timeIntervalSince1970: 1_800_000_000)

    private func configuration(_ folder: TemporaryFolder) -> GatewayConfiguration {
        var configuration = GatewayConfiguration()
        configuration.dataDirectory = folder.file("data")
        return configuration
    }

    /// Makes the ledger of a gateway that starts with the folder.
    private func ledger(_ configuration: GatewayConfiguration, at date: Date) throws -> ViewershipLedger {
        let ring = try SessionKeyRing(DataDirectory(configuration.dataDirectory))
        return ViewershipLedger(
            keys: ring.keys(at: date),
            clock: ManualClock(),
            configuration: .init(),
            startDate: date
        )
    }

    @Test("ids of the old key are accepted for a day, by a running and by a restarted gateway")
    func rotates() throws {
        let folder = try TemporaryFolder("session-keys")
        let configuration = configuration(folder)
        let directory = try DataDirectory(configuration.dataDirectory)
        let secrets = try GatewaySecrets(directory)
        let running = ViewershipLedger(
            keys: secrets.sessionKeys,
            clock: ManualClock(),
            configuration: .init(),
            startDate: start
        )
        let service = SessionKeyService(viewership: running, directory: directory, logger: Logger(label: "test"))
        var known = try service.reload(nil, at: start)
        let old = running.makeSession(room: "show")

        let end = try SessionKeyRotation(configuration).rotate(at: start)
        #expect(end == start.addingTimeInterval(86_400))
        #expect(try directory.read("session.key") == nil)
        let before = running.makeSession(room: "show")
        known = try service.reload(known, at: start.addingTimeInterval(5))
        let new = running.makeSession(room: "show")
        let later = start.addingTimeInterval(86_000)
        let restarted = try ledger(configuration, at: later)
        for sid in [old, before, new] {
            #expect(running.accepts(sid: sid, room: "show") && restarted.accepts(sid: sid, room: "show"))
        }
        // The first characters encode the version.
        #expect(old.prefix(1) == before.prefix(1) && old.prefix(2) != new.prefix(2))

        let over = start.addingTimeInterval(86_401)
        known = try service.reload(known, at: over)
        let late = try ledger(configuration, at: over)
        for ledger in [running, late] {
            #expect(!ledger.accepts(sid: old, room: "show") && !ledger.accepts(sid: before, room: "show"))
            #expect(ledger.accepts(sid: new, room: "show"))
        }
        #expect(known.1 == false)
    }

    @Test("refuses a third key while ids of the first are accepted, unless the old key is discarded")
    func tooSoon() throws {
        let folder = try TemporaryFolder("session-keys")
        let configuration = configuration(folder)
        let first = try ledger(configuration, at: start).makeSession(room: "show")
        try SessionKeyRotation(configuration).rotate(at: start)
        let second = try ledger(configuration, at: start).makeSession(room: "show")
        let soon = start.addingTimeInterval(3_600)
        #expect(throws: SessionKeyRotation.TooSoon.self) { try SessionKeyRotation(configuration).rotate(at: soon) }
        #expect(try ledger(configuration, at: soon).accepts(sid: first, room: "show"))
        #expect(try SessionKeyRotation(configuration).rotate(forgetting: true, at: soon) == nil)
        let present = try ledger(configuration, at: soon)
        #expect(!present.accepts(sid: first, room: "show") && !present.accepts(sid: second, room: "show"))
        #expect(present.accepts(sid: present.makeSession(room: "show"), room: "show"))
        // Another rotation is possible.
        #expect(try SessionKeyRotation(configuration).rotate(at: soon) != nil)
    }

    @Test("a known session continues with an id of a discarded key")
    func watching() throws {
        let folder = try TemporaryFolder("session-keys")
        let configuration = configuration(folder)
        let ledger = try ledger(configuration, at: start)
        let directory = try DataDirectory(configuration.dataDirectory)
        let service = SessionKeyService(viewership: ledger, directory: directory, logger: Logger(label: "test"))
        let admission = ledger.admit(PlayerRequest(userAgent: "p", address: "10.0.0.1"), to: "show")
        guard case .viewer(let sid) = admission else {
            Issue.record("not admitted: \(admission)")
            return
        }
        try SessionKeyRotation(configuration).rotate(forgetting: true, at: start)
        _ = try service.reload(nil, at: start)
        #expect(ledger.accepts(sid: sid, room: "show"))
        #expect(!ledger.accepts(sid: sid, room: "other"))
    }

    @Test("a damaged file is an error at the start")
    func damaged() throws {
        let folder = try TemporaryFolder("session-keys")
        let directory = try DataDirectory(folder.file("data"))
        try directory.write(Data("x".utf8), to: SessionKeyRing.fileName, mode: 0o600)
        #expect(throws: DataDirectoryError.self) { try SessionKeyRing(directory) }
    }
}
