import Foundation
import Media
import Stage
import Testing

@testable import Viewership

@Suite("Viewers by estimate, over a restart")
struct DailySaltTests {
    private static let secret: [UInt8] = Array(1...32)

    private func join(_ stand: Stand, address: String) {
        guard case .viewer(let sid) = stand.ledger.admit(PlayerRequest(userAgent: "p", address: address), to: "show")
        else { return }
        let now = stand.clock.now.seconds(since: stand.start)
        for second in [now, now + 2, now + 4] { stand.record(sid, .playlistServed, at: second, by: .hls) }
    }

    @Test("G7 who comes back after a restart on the same day is the same viewer by estimate")
    func restart() throws {
        let before = Stand()
        before.ledger.keepHistory()
        before.ledger.roomBegan("show", sid: "RM1")
        for address in ["10.0.0.1", "10.0.0.2", "10.0.0.2"] { join(before, address: address) }
        #expect(before.report.uniques.estimated == 2)
        var history = MemoryHistory()
        history.write(before.ledger.takeHistory())
        let copy = try before.ledger.sealedSalt(secret: Self.secret).copy
        // Later news of a session must not take its estimate back.
        before.advance(to: 20)
        history.write(before.ledger.takeHistory())

        let after = Stand(clock: before.clock, start: before.start)
        after.ledger.keepHistory()
        #expect(after.ledger.takeSalt(copy, secret: Self.secret))
        after.ledger.restore(history.recovered)
        after.ledger.roomBegan("show", sid: "RM1")
        #expect(after.report.uniques.estimated == 2)
        for address in ["10.0.0.1", "10.0.0.3"] { join(after, address: address) }
        #expect(after.report.uniques.estimated == 3)
        #expect(after.report.joins == 5)
    }

    /// Who one player of one address is by estimate.
    private func estimate(_ salt: inout DailySalt, at date: Int64) -> UInt64 {
        ViewerKey(address: "10.0.0.1", userAgent: "p", room: "show", salt: salt.key(at: date)).value
    }

    @Test("a copy is of no use without its secret, on another day, or changed")
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
