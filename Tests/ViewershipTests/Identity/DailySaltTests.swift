import FootlightTesting
import Foundation
import Media
import Stage
import Testing

@testable import Viewership

@Suite("Viewer estimates across a restart")
struct DailySaltTests {
    private static let secret: [UInt8] = Array(1...32)

    private func join(_ fixture: LedgerFixture, address: String) {
        guard case .viewer(let sid) = fixture.ledger.admit(PlayerRequest(userAgent: "p", address: address), to: "show")
        else { return }
        let now = fixture.clock.now.seconds(since: fixture.start)
        for second in [now, now + 2, now + 4] { fixture.record(sid, .playlistServed, at: second, by: .hls) }
    }

    @Test("G7 a viewer that returns after a restart on the same day has the same estimate")
    func restart() throws {
        let before = LedgerFixture()
        before.ledger.enableHistory()
        before.ledger.roomBegan("show", sid: "RM1")
        for address in ["10.0.0.1", "10.0.0.2", "10.0.0.2"] { join(before, address: address) }
        #expect(before.report.uniques.estimated == 2)
        var history = InMemoryHistory()
        history.write(before.ledger.drainHistory())
        let copy = try before.ledger.sealedSalt(secret: Self.secret).copy
        // A later row of a session must keep its estimate.
        before.advance(to: 20)
        history.write(before.ledger.drainHistory())

        let after = LedgerFixture(clock: before.clock, start: before.start)
        after.ledger.enableHistory()
        #expect(after.ledger.restoreSalt(copy, secret: Self.secret))
        after.ledger.restore(history.recovered)
        after.ledger.roomBegan("show", sid: "RM1")
        #expect(after.report.uniques.estimated == 2)
        for address in ["10.0.0.1", "10.0.0.3"] { join(after, address: address) }
        #expect(after.report.uniques.estimated == 3)
        #expect(after.report.joins == 5)
    }

    /// Returns the estimate of one player with one address.
    private func estimate(_ salt: inout DailySalt, at date: Int64) -> UInt64 {
        ViewerKey(address: "10.0.0.1", userAgent: "p", room: "show", salt: salt.key(at: date)).value
    }

    @Test("a sealed copy does not open with another secret, on another day, or changed")
    func sealed() throws {
        let now: Int64 = 1_800_000_000_000
        var salt = DailySalt()
        let viewer = estimate(&salt, at: now)
        let copy = try salt.sealed(at: now, secret: Self.secret)
        var other = DailySalt()
        let isOpenedByOther = other.open(copy, at: now, secret: Array(2...33))
        let isOpenedLater = other.open(copy, at: now + 86_400_000, secret: Self.secret)
        var changed = copy
        changed[20] ^= 1
        let isOpenedChanged = other.open(changed, at: now, secret: Self.secret)
        let isOpenedShort = other.open([1, 2, 3], at: now, secret: Self.secret)
        #expect(!isOpenedByOther && !isOpenedLater && !isOpenedChanged && !isOpenedShort)
        #expect(estimate(&other, at: now) != viewer)
        let isOpened = other.open(copy, at: now, secret: Self.secret)
        #expect(isOpened && estimate(&other, at: now) == viewer)
        #expect(estimate(&other, at: now + 86_400_000) != viewer)
    }
}
