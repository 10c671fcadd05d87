import FootlightTesting
import Foundation
import Media
import Stage
import TestSupport
import Testing

@testable import Recording

@Suite("Recorded files", .serialized) struct RecordingStoreTests {
    @Test("are listed by room, loaded by the next process and deleted on request")
    func lifecycle() async throws {
        let folder = try TemporaryFolder("library")
        let fixture = try RecordingFixture(folder)
        try fixture.begin()
        try await fixture.play(EncodedClip.red.value)
        let control = try fixture.control
        let active = try #require(try await Self.firstFile(of: fixture))
        await #expect(throws: StageError.recordingBeingWritten) { try await control.delete(active.sid) }
        let file = try #require(try await fixture.end().first)
        #expect(control.files(room: RecordingFixture.roomSID) == [file])
        #expect(control.files(room: "other").isEmpty)
        #expect(control.figures.storedBytes == file.bytes)

        let next = try RecordingFixture(folder)
        #expect(try next.control.file(file.sid) == file)
        let path = try next.path(file)
        try await next.control.delete(file.sid)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try next.control.files(room: RecordingFixture.room).isEmpty)
        await #expect(throws: StageError.recordingNotFound) { try await next.control.delete(file.sid) }
        await #expect(throws: StageError.recordingNotFound) { try await next.control.delete("../../etc/passwd") }
    }

    @Test("are deleted by age and total size, oldest first, except the one being written")
    func retention() async throws {
        let folder = try TemporaryFolder("retention")
        let fixture = try RecordingFixture(folder) { $0.fileSeconds = 1 }
        try fixture.begin()
        try await fixture.play(EncodedClip.red.value)
        let files = try await fixture.end()
        #expect(files.map(\.part) == [1, 2, 3, 4])
        let lastTwo = files.suffix(2).reduce(0) { $0 + $1.bytes }

        let next = try RecordingFixture(folder) { $0.maximumStoredBytes = lastTwo }
        let control = try next.control
        let isSwept = try await eventually { control.files(room: RecordingFixture.room).count == 2 }
        #expect(isSwept)
        #expect(control.files(room: RecordingFixture.room).map(\.part) == [3, 4])

        let last = try RecordingFixture(folder) { $0.retentionSeconds = 0.001 }
        let lastControl = try last.control
        let isEmpty = try await eventually { lastControl.files(room: RecordingFixture.room).isEmpty }
        #expect(isEmpty)
    }

    @Test("refuses commands in the wrong state with their error codes")
    func refusals() async throws {
        let fixture = try RecordingFixture()
        let control = try fixture.control
        #expect(throws: StageError.roomNotFound) { try control.start(room: RecordingFixture.room) }
        control.roomBegan(RecordingFixture.room, sid: RecordingFixture.roomSID, gopSeconds: 2, isRecorded: true)
        #expect(control.status(room: RecordingFixture.room).state == .starting)
        #expect(throws: StageError.recordingAlreadyStarted) { try control.start(room: RecordingFixture.room) }
        // Nothing was received, so there is no file and no error.
        #expect(try await fixture.end().isEmpty)
        #expect(throws: StageError.recordingNotRunning) { try control.stop(room: RecordingFixture.room) }
        #expect(fixture.states == [.starting, .stopping, .stopped])
    }

    @Test("ends the recording when the room ends")
    func roomEnd() async throws {
        let fixture = try RecordingFixture()
        try fixture.begin()
        try await fixture.play(EncodedClip.red.value)
        let control = try fixture.control
        control.roomEnded(RecordingFixture.room)
        let hasEnded = try await eventually { control.isIdle }
        #expect(hasEnded)
        #expect(control.files(room: RecordingFixture.room).map(\.state) == [.completed])
    }

    private static func firstFile(of fixture: RecordingFixture) async throws -> RecordedFile? {
        let control = try fixture.control
        _ = try await eventually { !control.files(room: RecordingFixture.room).isEmpty }
        return control.files(room: RecordingFixture.room).first
    }
}

@Suite("Scan of an unfinished recording") struct FragmentScannerTests {
    private func big(_ number: UInt64, _ count: Int = 4) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
    }

    private func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        big(UInt64(content.count + 8)) + Array(type.utf8) + content
    }

    /// Returns a file with one fragment of one track that begins at `start`, in milliseconds.
    private func file(start: UInt64, run: [UInt8]) -> [UInt8] {
        let header = box("tkhd", big(0, 12) + big(1))
        let media = box("mdia", box("mdhd", big(0, 12) + big(1000)))
        let fragment =
            box("tfhd", big(0) + big(1) + big(UInt64(UInt32.max)))
            + box("tfdt", big(1 << 24) + big(start, 8)) + box("trun", run)
        return box("moov", box("trak", header + media)) + box("moof", box("traf", fragment)) + box("mdat", [1, 2])
    }

    @Test("measures the duration and ignores fragments with implausible values")
    func durations() throws {
        let folder = try TemporaryFolder("scan")
        func scan(_ bytes: [UInt8]) throws -> FragmentScanner {
            let path = folder.file("a.mp4")
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            return FragmentScanner(path: path)
        }
        let good = file(start: 5000, run: big(0x101) + big(2) + big(0) + big(40) + big(40))
        #expect(try scan(good).duration == 5.08)
        #expect(try scan(good).bytes == good.count)
        // The default sample duration and the sample count have their maximum values.
        for start in [UInt64.max, UInt64.max - 1, 1 << 63] as [UInt64] {
            let huge = file(start: start, run: big(0) + big(UInt64(UInt32.max)))
            #expect(try scan(huge).duration == 0)
        }
    }
}
