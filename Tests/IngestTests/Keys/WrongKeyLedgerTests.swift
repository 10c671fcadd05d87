@testable import Ingest
import Media
import Testing

@Suite("Wrong keys by address")
struct WrongKeyLedgerTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)

    @Test("An address is shut with its fifth wrong key in a minute, and others are not")
    func shuts() {
        var ledger = WrongKeyLedger(perMinute: 5)
        for _ in 0..<4 {
            ledger.noteWrongKey(from: "a", now: start)
            #expect(!ledger.isShut("a", now: start))
        }
        ledger.noteWrongKey(from: "a", now: start)
        #expect(ledger.isShut("a", now: start))
        #expect(!ledger.isShut("b", now: start))
    }

    @Test("It opens as time passes, one try every twelve seconds")
    func refills() {
        var ledger = WrongKeyLedger(perMinute: 5)
        for _ in 0..<100 { ledger.noteWrongKey(from: "a", now: start) }
        #expect(ledger.isShut("a", now: start.advanced(seconds: 11)))
        #expect(!ledger.isShut("a", now: start.advanced(seconds: 13)))
        ledger.noteWrongKey(from: "a", now: start.advanced(seconds: 13))
        #expect(ledger.isShut("a", now: start.advanced(seconds: 13)))
        #expect(!ledger.isShut("a", now: start.advanced(seconds: 75)))
    }

    @Test("Of too many addresses the one that was quiet longest is forgotten")
    func capacity() {
        var ledger = WrongKeyLedger(perMinute: 1)
        for number in 0...4_096 {
            for _ in 0..<2 {
                ledger.noteWrongKey(from: "\(number)", now: start.advanced(milliseconds: Int64(number)))
            }
        }
        let now = start.advanced(milliseconds: 4_097)
        #expect(!ledger.isShut("0", now: now))
        #expect(ledger.isShut("4000", now: now))
    }
}
