import FootlightTesting
import Foundation
import Media
import Stage
import Testing

@testable import Recording

@Suite("Recorded files", .serialized) struct RecordingLibraryTests {
    @Test("are listed by room, found again by the next process, and deleted by command")
    func lifecycle() async throws {
        let folder = try TemporaryFolder("library")
        let studio = try Studio(folder)
        try studio.begin()
        try await studio.play(Clip.red.value)
        let control = try studio.control
        let active = try #require(try await Self.firstFile(of: studio))
        await #expect(throws: StageError.recordingBeingWritten) { try await control.delete(active.sid) }
        let file = try #require(try await studio.end().first)
        #expect(control.files(room: Studio.roomSID) == [file])
        #expect(control.files(room: "other").isEmpty)
        #expect(control.figures.storedBytes == file.bytes)

        let next = try Studio(folder)
        #expect(try next.control.file(file.sid) == file)
        let path = try next.path(file)
        try await next.control.delete(file.sid)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try next.control.files(room: Studio.room).isEmpty)
        await #expect(throws: StageError.recordingNotFound) { try await next.control.delete(file.sid) }
        await #expect(throws: StageError.recordingNotFound) { try await next.control.delete("../../etc/passwd") }
    }

    @Test("go by age and by the sum of their sizes, the oldest first, but never the one that is being written")
    func retention() async throws {
        let folder = try TemporaryFolder("retention")
        let studio = try Studio(folder) { $0.fileSeconds = 1 }
        try studio.begin()
        try await studio.play(Clip.red.value)
        let files = try await studio.end()
        #expect(files.map(\.part) == [1, 2, 3, 4])
        let lastTwo = files.suffix(2).reduce(0) { $0 + $1.bytes }

        let next = try Studio(folder) { $0.keptBytes = lastTwo }
        let control = try next.control
        let isSwept = try await eventually { control.files(room: Studio.room).count == 2 }
        #expect(isSwept)
        #expect(control.files(room: Studio.room).map(\.part) == [3, 4])

        let last = try Studio(folder) { $0.keptSeconds = 0.001 }
        let lastControl = try last.control
        let isEmpty = try await eventually { lastControl.files(room: Studio.room).isEmpty }
        #expect(isEmpty)
    }

    @Test("commands out of turn are refused by their codes")
    func refusals() async throws {
        let studio = try Studio()
        let control = try studio.control
        #expect(throws: StageError.roomNotFound) { try control.start(room: Studio.room) }
        control.roomBegan(Studio.room, sid: Studio.roomSID, groupSeconds: 2, isRecorded: true)
        #expect(control.status(room: Studio.room).state == .starting)
        #expect(throws: StageError.recordingAlreadyStarted) { try control.start(room: Studio.room) }
        // Nothing flowed, so there is no file, and no error either.
        #expect(try await studio.end().isEmpty)
        #expect(throws: StageError.recordingNotRunning) { try control.stop(room: Studio.room) }
        #expect(studio.states == [.starting, .stopping, .stopped])
    }

    @Test("the end of a room ends its recording")
    func roomEnd() async throws {
        let studio = try Studio()
        try studio.begin()
        try await studio.play(Clip.red.value)
        let control = try studio.control
        control.roomEnded(Studio.room)
        let hasEnded = try await eventually { control.isIdle }
        #expect(hasEnded)
        #expect(control.files(room: Studio.room).map(\.state) == [.completed])
    }

    private static func firstFile(of studio: Studio) async throws -> RecordedFile? {
        let control = try studio.control
        _ = try await eventually { !control.files(room: Studio.room).isEmpty }
        return control.files(room: Studio.room).first
    }
}
