import NIOCore
import Testing

@testable import ControlAPI

@Suite("Snapshots")
struct SnapshotStoreTests {
    private let key = SnapshotKey(format: "jpg", resolved: 640)
    private let start = ContinuousClock.now

    private func isImage(_ answer: SnapshotStore.Result, of bytes: ByteBuffer) -> Bool {
        if case .image(let frame) = answer { frame.bytes == bytes } else { false }
    }

    @Test("A mixer is asked for a requested snapshot every other second, until the request expires")
    func asking() {
        let board = SnapshotStore()
        if case .noMixer = board.request(key, room: "RM1", now: start) {} else { Issue.record("there is no mixer") }
        #expect(board.mixerReported(room: "RM1", now: start).isEmpty)
        if case .pending = board.request(key, room: "RM1", now: start) {} else { Issue.record("it should be awaited") }
        #expect(board.mixerReported(room: "RM1", now: start) == [key])
        // Already asked.
        #expect(board.mixerReported(room: "RM1", now: start + .seconds(1)).isEmpty)
        let first = ByteBuffer(string: "first")
        board.store(first, key, room: "RM1", now: start + .seconds(1))
        #expect(isImage(board.request(key, room: "RM1", now: start + .seconds(1)), of: first))
        #expect(board.mixerReported(room: "RM1", now: start + .seconds(2)).isEmpty)
        #expect(board.mixerReported(room: "RM1", now: start + .seconds(4)) == [key])
        // No request for ten seconds.
        #expect(board.mixerReported(room: "RM1", now: start + .seconds(12)).isEmpty)
        #expect(board.mixerReported(room: "RM1", now: start + .seconds(20)).isEmpty)
        if case .pending = board.request(key, room: "RM1", now: start + .seconds(20)) {
        } else {
            Issue.record("it is old")
        }
    }

    @Test("A fresh snapshot is one that the mixer was asked for after the request")
    func fresh() {
        let board = SnapshotStore()
        _ = board.mixerReported(room: "RM1", now: start)
        _ = board.request(key, room: "RM1", now: start)
        #expect(board.mixerReported(room: "RM1", now: start) == [key])
        let (old, new) = (ByteBuffer(string: "old"), ByteBuffer(string: "new"))
        let later = start + .milliseconds(500)
        func ask(_ now: ContinuousClock.Instant) -> SnapshotStore.Result {
            board.request(key, room: "RM1", since: later, now: now)
        }
        // It was being made when the request came.
        if case .pending = ask(later) {} else { Issue.record("nothing is there") }
        board.store(old, key, room: "RM1", now: start + .seconds(1))
        if case .pending = ask(start + .seconds(1)) {} else { Issue.record("it is old") }
        #expect(isImage(board.request(key, room: "RM1", now: start + .seconds(1)), of: old))
        #expect(board.mixerReported(room: "RM1", now: start + .seconds(3)) == [key])
        board.store(new, key, room: "RM1", now: start + .seconds(4))
        #expect(isImage(ask(start + .seconds(4)), of: new))
    }

    @Test("A silent mixer and an unrequested room have no snapshot")
    func silence() {
        let board = SnapshotStore()
        board.store(ByteBuffer(string: "unasked"), key, room: "RM1", now: start)
        _ = board.mixerReported(room: "RM1", now: start)
        if case .pending = board.request(key, room: "RM1", now: start) {} else { Issue.record("it was not asked for") }
        if case .noMixer = board.request(key, room: "RM1", now: start + .seconds(6)) {
        } else {
            Issue.record("it is silent")
        }
    }

    @Test("The kinds of snapshots are limited, and widths are rounded up to supported ones")
    func limits() throws {
        let board = SnapshotStore()
        _ = board.mixerReported(room: "RM1", now: start)
        for width in [100, 200, 400, 600] {
            _ = board.request(try #require(SnapshotKey(format: "jpg", width: "\(width)")), room: "RM1", now: start)
        }
        if case .busy = board.request(SnapshotKey(format: "jpg", resolved: 0), room: "RM1", now: start) {
        } else {
            Issue.record("it should be busy")
        }
        let texts = board.mixerReported(room: "RM1", now: start).map(\.text)
        #expect(Set(texts) == ["jpg-160", "jpg-320", "jpg-480", "jpg-640"])
        #expect(SnapshotKey(format: "png", width: "9999")?.text == "png-0")
        #expect(SnapshotKey(format: "png", width: "0") == nil)
        #expect(SnapshotKey(width: "640", of: .preview)?.text == "jpg-640-preview")
        #expect(SnapshotKey(width: "0", of: .preview) == nil)
        #expect(SnapshotKey("jpg-640-preview") == SnapshotKey(width: "640", of: .preview))
        #expect(SnapshotKey("jpg-641") == nil && SnapshotKey("gif-640") == nil && SnapshotKey("jpg-640-1") == nil)
    }

    @Test(
        "Readers without a token have two kinds, in addition to four of those with a token; existing images are shared"
    )
    func reserved() throws {
        let board = SnapshotStore()
        _ = board.mixerReported(room: "RM1", now: start)
        func request(_ width: Int, isAnonymous: Bool, at seconds: Int = 0) -> Bool {
            let key = SnapshotKey(format: "jpg", resolved: width)
            let answer = board.request(key, room: "RM1", isAnonymous: isAnonymous, now: start + .seconds(seconds))
            if case .pending = answer { return true }
            return false
        }
        #expect(request(160, isAnonymous: true) && request(320, isAnonymous: true) && !request(480, isAnonymous: true))
        for width in [480, 640, 960, 1280] { #expect(request(width, isAnonymous: false)) }
        #expect(!request(0, isAnonymous: false) && !request(0, isAnonymous: true))
        #expect(request(480, isAnonymous: true))
        #expect(board.mixerReported(room: "RM1", now: start).count == 6)
        // The requests with a token have expired.
        _ = board.mixerReported(room: "RM1", now: start + .seconds(4))
        #expect(request(480, isAnonymous: true, at: 8))
        _ = board.mixerReported(room: "RM1", now: start + .seconds(11))
        #expect(request(640, isAnonymous: true, at: 11) && !request(960, isAnonymous: true, at: 11))
    }

    @Test("Range headers are parsed by RFC 9110")
    func ranges() {
        #expect(FileByteRange(nil, length: 10) == .whole)
        #expect(FileByteRange("bytes=2-4", length: 10) == .part(2...4))
        #expect(FileByteRange("bytes=2-", length: 10) == .part(2...9))
        #expect(FileByteRange("bytes=-3", length: 10) == .part(7...9))
        #expect(FileByteRange("bytes=5-99", length: 10) == .part(5...9))
        #expect(FileByteRange("bytes=10-", length: 10) == .unsatisfiable)
        for odd in ["bytes=4-2", "bytes=a-b", "bytes=1-2,4-5", "items=1-2", "bytes=+1-2"] {
            #expect(FileByteRange(odd, length: 10) == .whole)
        }
    }
}
