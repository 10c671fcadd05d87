import FootlightTesting
import Foundation
@testable import Gateway
import Logging
import TestSupport
import Testing
import Viewership

@Suite("Stored salt of the day")
struct SaltServiceTests {
    private func ledger(_ clock: ManualClock, days: Double = 0) -> ViewershipLedger {
        ViewershipLedger(
            keys: SessionKeys(current: SessionKey(version: 1, secret: Array(1...32))),
            clock: clock,
            configuration: .init(),
            startDate: Date(timeIntervalSince1970: 1_800_000_000 + days * 86_400)
        )
    }

    private func service(_ ledger: ViewershipLedger, _ directory: DataDirectory) -> SaltService {
        SaltService(viewership: ledger, directory: directory, logger: Logger(label: "test"))
    }

    @Test("restores the salt on the same day, and overwrites it on the next")
    func restarts() throws {
        let folder = try TemporaryFolder("salt")
        let directory = try DataDirectory(folder.file("data"))
        let clock = ManualClock()
        try service(ledger(clock), directory).load()
        let copy = try #require(try directory.read("estimates.salt"))
        try service(ledger(clock), directory).load()
        #expect(try directory.read("estimates.salt") == copy)
        try service(ledger(clock, days: 1), directory).load()
        let next = try #require(try directory.read("estimates.salt"))
        #expect(next != copy)
        // The first day's copy cannot be restored any more.
        let secret = try directory.secret("estimates")
        #expect(!ledger(clock, days: 1).restoreSalt([UInt8](copy), secret: secret))
        #expect(ledger(clock, days: 1).restoreSalt([UInt8](next), secret: secret))
    }
}
