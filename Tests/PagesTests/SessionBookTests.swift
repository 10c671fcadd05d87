import Media
import Testing

@testable import Pages

@Suite("Sessions of the dashboard")
struct SessionBookTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)

    @Test("A session stands for its token until it is closed, and no other secret does")
    func life() {
        var book = SessionBook()
        let secret = book.open(token: "first", now: start)
        let other = book.open(token: "second", now: start)
        #expect(secret != other && secret.count == 43)
        #expect(secret.utf8.allSatisfy { $0 != UInt8(ascii: ";") && $0 > 0x20 && $0 < 0x7F })
        #expect(book.token(of: secret, now: start) == "first")
        #expect(book.token(of: secret + "x", now: start) == nil && book.token(of: "", now: start) == nil)
        book.close(secret)
        #expect(book.token(of: secret, now: start) == nil && book.token(of: other, now: start) == "second")
    }

    @Test("A session in use lasts for a week, one that is not for half a day")
    func limits() {
        var book = SessionBook()
        let (used, unused) = (book.open(token: "used", now: start), book.open(token: "unused", now: start))
        var now = start
        for _ in 0..<13 {
            now = now.advanced(seconds: SessionBook.idleLimit - 1)
            #expect(book.token(of: used, now: now) == "used")
        }
        #expect(book.token(of: unused, now: now) == nil)
        #expect(book.token(of: used, now: start.advanced(seconds: SessionBook.ageLimit + 1)) == nil)
        #expect(book.count == 0)
    }

    @Test("Of too many sessions the one that was used longest ago makes room")
    func capacity() {
        var book = SessionBook()
        let secrets = (0..<SessionBook.capacity).map {
            book.open(token: "\($0)", now: start.advanced(seconds: Double($0)))
        }
        let later = start.advanced(seconds: 1000)
        #expect(book.token(of: secrets[0], now: later) == "0")
        let newest = book.open(token: "new", now: later)
        #expect(book.count == SessionBook.capacity)
        #expect(book.token(of: secrets[0], now: later) == "0" && book.token(of: newest, now: later) == "new")
        #expect(book.token(of: secrets[1], now: later) == nil)
    }
}
