import NIOCore
import Testing

@testable import ControlAPI

@Suite("Pictures of programs")
struct SnapshotBoardTests {
    private let key = SnapshotKey(format: "jpg", resolved: 640)
    private let start = ContinuousClock.now

    private func isPicture(_ answer: SnapshotBoard.Answer, of bytes: ByteBuffer) -> Bool {
        if case .picture(let picture) = answer { picture.bytes == bytes } else { false }
    }

    @Test("A mixer is asked for what somebody wants, every other second, for as long as somebody wants it")
    func asking() {
        let board = SnapshotBoard()
        if case .none = board.ask(key, room: "RM1", now: start) {} else { Issue.record("there is no mixer") }
        #expect(board.reported(room: "RM1", now: start).isEmpty)
        if case .awaited = board.ask(key, room: "RM1", now: start) {} else { Issue.record("it should be awaited") }
        #expect(board.reported(room: "RM1", now: start) == [key])
        // It knows already.
        #expect(board.reported(room: "RM1", now: start + .seconds(1)).isEmpty)
        let first = ByteBuffer(string: "first")
        board.post(first, key, room: "RM1", now: start + .seconds(1))
        #expect(isPicture(board.ask(key, room: "RM1", now: start + .seconds(1)), of: first))
        #expect(board.reported(room: "RM1", now: start + .seconds(2)).isEmpty)
        #expect(board.reported(room: "RM1", now: start + .seconds(4)) == [key])
        // Nobody has asked for ten seconds.
        #expect(board.reported(room: "RM1", now: start + .seconds(12)).isEmpty)
        #expect(board.reported(room: "RM1", now: start + .seconds(20)).isEmpty)
        if case .awaited = board.ask(key, room: "RM1", now: start + .seconds(20)) {} else { Issue.record("it is old") }
    }

    @Test("Of a silent mixer, and of a room nobody asked about, there is nothing")
    func silence() {
        let board = SnapshotBoard()
        board.post(ByteBuffer(string: "unasked"), key, room: "RM1", now: start)
        _ = board.reported(room: "RM1", now: start)
        if case .awaited = board.ask(key, room: "RM1", now: start) {} else { Issue.record("it was not asked for") }
        if case .none = board.ask(key, room: "RM1", now: start + .seconds(6)) {} else { Issue.record("it is silent") }
    }

    @Test("Few kinds of pictures are made at a time, and widths are brought to those there are")
    func limits() throws {
        let board = SnapshotBoard()
        _ = board.reported(room: "RM1", now: start)
        for width in [100, 200, 400, 600] {
            _ = board.ask(try #require(SnapshotKey(format: "jpg", width: "\(width)")), room: "RM1", now: start)
        }
        if case .busy = board.ask(SnapshotKey(format: "jpg", resolved: 0), room: "RM1", now: start) {
        } else {
            Issue.record("it should be busy")
        }
        let texts = board.reported(room: "RM1", now: start).map(\.text)
        #expect(Set(texts) == ["jpg-160", "jpg-320", "jpg-480", "jpg-640"])
        #expect(SnapshotKey(format: "png", width: "9999")?.text == "png-0")
        #expect(SnapshotKey(format: "png", width: "0") == nil)
        #expect(SnapshotKey("jpg-641") == nil && SnapshotKey("gif-640") == nil && SnapshotKey("jpg-640-1") == nil)
    }

    @Test(
        "Readers without a token have two kinds, which keep nobody with a token from four; what is there all may have"
    )
    func reserved() throws {
        let board = SnapshotBoard()
        _ = board.reported(room: "RM1", now: start)
        func ask(_ width: Int, isAnonymous: Bool, at seconds: Int = 0) -> Bool {
            let key = SnapshotKey(format: "jpg", resolved: width)
            let answer = board.ask(key, room: "RM1", isAnonymous: isAnonymous, now: start + .seconds(seconds))
            if case .awaited = answer { return true }
            return false
        }
        #expect(ask(160, isAnonymous: true) && ask(320, isAnonymous: true) && !ask(480, isAnonymous: true))
        for width in [480, 640, 960, 1280] { #expect(ask(width, isAnonymous: false)) }
        #expect(!ask(0, isAnonymous: false) && !ask(0, isAnonymous: true))
        #expect(ask(480, isAnonymous: true))
        #expect(board.reported(room: "RM1", now: start).count == 6)
        // Those with a token have gone.
        _ = board.reported(room: "RM1", now: start + .seconds(4))
        #expect(ask(480, isAnonymous: true, at: 8))
        _ = board.reported(room: "RM1", now: start + .seconds(11))
        #expect(ask(640, isAnonymous: true, at: 11) && !ask(960, isAnonymous: true, at: 11))
    }

    @Test("Ranges of files as RFC 9110 reads them")
    func ranges() {
        #expect(FileRange(nil, length: 10) == .whole)
        #expect(FileRange("bytes=2-4", length: 10) == .part(2...4))
        #expect(FileRange("bytes=2-", length: 10) == .part(2...9))
        #expect(FileRange("bytes=-3", length: 10) == .part(7...9))
        #expect(FileRange("bytes=5-99", length: 10) == .part(5...9))
        #expect(FileRange("bytes=10-", length: 10) == .unsatisfiable)
        for odd in ["bytes=4-2", "bytes=a-b", "bytes=1-2,4-5", "items=1-2", "bytes=+1-2"] {
            #expect(FileRange(odd, length: 10) == .whole)
        }
    }
}
