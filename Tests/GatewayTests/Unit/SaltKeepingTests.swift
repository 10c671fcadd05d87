import FootlightTesting
import Foundation
@testable import Gateway
import Logging
import Testing
import Viewership

@Suite("The salt of the day on disk")
struct SaltKeepingTests {
    private func ledger(_ clock: ManualClock, days: Double = 0) -> ViewershipLedger {
        ViewershipLedger(
            keys: SessionKeys(current: SessionKey(version: 1, secret: Array(1...32))),
            clock: clock,
            configuration: .init(),
            startDate: Date(timeIntervalSince1970: 1_800_000_000 + days * 86_400)
        )
    }

    private func keeping(_ ledger: ViewershipLedger, _ directory: DataDirectory) -> SaltKeeping {
        SaltKeeping(viewership: ledger, directory: directory, logger: Logger(label: "test"))
    }

    @Test("it is kept for a restart on the same day, and written over on the next")
    func restarts() throws {
        let folder = try TemporaryFolder("salt")
        let directory = try DataDirectory(folder.file("data"))
        let clock = ManualClock()
        try keeping(ledger(clock), directory).load()
        let copy = try #require(try directory.read("estimates.salt"))
        try keeping(ledger(clock), directory).load()
        #expect(try directory.read("estimates.salt") == copy)
        try keeping(ledger(clock, days: 1), directory).load()
        let next = try #require(try directory.read("estimates.salt"))
        #expect(next != copy)
        // The copy of the first day is of no use any more, even to who has kept it.
        let secret = try directory.secret("estimates")
        #expect(!ledger(clock, days: 1).takeSalt([UInt8](copy), secret: secret))
        #expect(ledger(clock, days: 1).takeSalt([UInt8](next), secret: secret))
    }
}
