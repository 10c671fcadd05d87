import FootlightTesting
import Foundation
import Media
import NIOCore
import Stage
import Testing

@testable import Recording

@Suite("When recording goes wrong", .serialized) struct RecordingFaultTests {
    @Test("F31 a full disk is told by its name, and what was whole stays whole")
    func fullDevice() throws {
        let descriptor = open("/dev/full", O_WRONLY)
        try #require(descriptor >= 0)
        let file = RecordingFile(descriptor: descriptor, reservedBytes: 0)
        #expect(throws: RecordingFault(action: "write", reason: "no space is left on the disk")) {
            try file.append(ByteBuffer(repeating: 1, count: 1000))
        }
        #expect(file.bytes == 0)
    }

    @Test("F31 a disk that fills up ends the recording alone, with an event, and what was written plays")
    func fullDisk() async throws {
        let folder = try TemporaryFolder("small-disk")
        // Without the right to mount, the reserve stands in for the end of the disk.
        let mount = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", folder.path]
        let isMounted = (try? await ChildProcess.run(mount)) != nil
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await fill(folder, isMounted: isMounted))
        } catch {
            outcome = .failure(error)
        }
        if isMounted { try await ChildProcess.run(["umount", "-l", folder.path]) }
        try outcome.get()
    }

    private func fill(_ folder: TemporaryFolder, isMounted: Bool) async throws {
        let studio = try Studio(folder) { if !isMounted { $0.reservedBytes = 1 << 60 } }
        try studio.begin()
        let clip = try await Clip.red.value
        for round in 0..<6 { studio.play(clip, delayedBy: Int64(round) * 7000) }
        let isTold = try await eventually { !studio.failures.isEmpty }
        #expect(isTold)
        let error = try #require(studio.failures.first)
        #expect(studio.failures.count == 1)
        #expect(error.code == 5001)
        #expect(error.cause.contains("no space is left on the disk"))
        #expect(studio.states.last == .stopped)
        #expect(try studio.control.status(room: Studio.room).failure == error)
        #expect(studio.listeners == 0)
        #expect(try studio.control.figures.failures == 1)
        guard isMounted else { return }
        let file = try #require(try studio.control.files(room: Studio.room).first)
        #expect(file.state == .failed)
        #expect(file.duration > 3)
        let recording = try await FootlightTesting.Recording(path: studio.path(file))
        #expect(abs(recording.duration(.video) + 1.0 / 30 - file.duration) < 0.1)
        #expect(recording.packets(.video).count % 30 == 0)
    }

    @Test("F39 a file whose process died plays as it is, and the next start ends it after its last whole fragment")
    func interrupted() async throws {
        let folder = try TemporaryFolder("interrupted")
        var path = ""
        let studio = try Studio(folder)
        try studio.begin()
        let clip = try await Clip.red.value
        studio.play(clip)
        let control = try studio.control
        let isWritten = try await eventually {
            (control.files(room: Studio.room).first?.duration ?? 0) > 5.9
        }
        #expect(isWritten)
        let written = try #require(control.files(room: Studio.room).first)
        path = try studio.path(written)
        // As a process leaves it that dies amid its next write.
        let copy = try TemporaryFolder("copy")
        let roomFolder = copy.path + "/recordings/" + Studio.roomSID
        try FileManager.default.createDirectory(atPath: copy.path + "/recordings", withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: (path as NSString).deletingLastPathComponent, toPath: roomFolder)
        let torn = "\(roomFolder)/\(written.sid).mp4"
        let handle = try #require(FileHandle(forWritingAtPath: torn))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data([0, 0, 4, 0]) + Data("moof".utf8) + Data(repeating: 0, count: 300))
        try handle.close()
        let asItWas = try await FootlightTesting.Recording(path: torn)
        #expect(asItWas.packets(.video).count == 180)

        let next = try Studio(copy)
        let found = try #require(try next.control.file(written.sid))
        #expect(found.state == .interrupted)
        #expect(abs(found.duration - 6) < 0.05)
        #expect(found.bytes == written.bytes)
        #expect(try FileManager.default.attributesOfItem(atPath: torn)[.size] as? Int == written.bytes)
        let recording = try await FootlightTesting.Recording(path: next.path(found))
        #expect(recording.packets(.video).count == 180)
        #expect(try next.control.files(room: Studio.room).map(\.sid) == [written.sid])
        _ = try await studio.end()
    }

    @Test("a disk that is too slow costs whole groups of pictures, counted, and nothing else")
    func slowDisk() {
        var inbox = RecordingInbox(limit: 100_000)
        let packets = Programme.packets(seconds: 6, pictureBytes: 1000)
        for packet in packets { inbox.append(packet) }
        inbox.end()
        let kept = inbox.takeAll()
        let pictures = kept.compactMap {
            if case .packet(let packet) = $0, packet.isVideo, !packet.isConfiguration { packet } else { nil }
        }
        // One group of 60 fits whole; the second went as a whole although 40 of it had found room.
        #expect(pictures.count == 60)
        #expect(pictures.last?.timestamp == 1966)
        #expect(inbox.dropped == 120)
        guard case .end? = kept.last else {
            Issue.record("the end is missing")
            return
        }
    }

    @Test("after dropped groups it goes on with a key picture, behind a gap")
    func afterSlowness() {
        var inbox = RecordingInbox(limit: 100_000)
        let packets = Programme.packets(seconds: 8, pictureBytes: 1000)
        for packet in packets.prefix(2 + 110) { inbox.append(packet) }
        #expect(inbox.takeAll().count == 62)
        for packet in packets.dropFirst(2 + 110) { inbox.append(packet) }
        let rest = inbox.takeAll()
        guard case .gap? = rest.first, case .packet(let first)? = rest.dropFirst().first else {
            Issue.record("no gap")
            return
        }
        #expect(first.isKeyPicture)
        #expect(first.timestamp == 4000)
    }
}
