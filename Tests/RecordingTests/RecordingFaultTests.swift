import FootlightTesting
import Foundation
import Media
import NIOCore
import Stage
import TestSupport
import Testing

@testable import Recording

@Suite("Recording errors", .enabled(if: TestRun.isFull), .serialized) struct RecordingFaultTests {
    @Test("F31 reports a full disk by its cause and keeps complete fragments")
    func fullDevice() throws {
        let descriptor = open("/dev/full", O_WRONLY)
        try #require(descriptor >= 0)
        let file = RecordingFile(descriptor: descriptor, reservedBytes: 0)
        #expect(throws: RecordingFault(action: "write", reason: "no space is left on the disk")) {
            try file.append(ByteBuffer(repeating: 1, count: 1000))
        }
        #expect(file.bytes == 0)
    }

    @Test("F31 ends only the recording on a full disk, with an event")
    func fullDisk() async throws {
        let folder = try TemporaryFolder("small-disk")
        // Without permission to mount, the reserve simulates a full disk.
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
        let fixture = try RecordingFixture(folder) { if !isMounted { $0.reservedBytes = 1 << 60 } }
        try fixture.begin()
        let clip = try await EncodedClip.red.value
        for round in 0..<6 { fixture.play(clip, delayedBy: Int64(round) * 7000) }
        let hasFailed = try await eventually { !fixture.failures.isEmpty }
        #expect(hasFailed)
        let error = try #require(fixture.failures.first)
        #expect(fixture.failures.count == 1)
        #expect(error.code == 5001)
        #expect(error.cause.contains("no space is left on the disk"))
        #expect(fixture.states.last == .stopped)
        #expect(try fixture.control.status(room: RecordingFixture.room).failure == error)
        #expect(fixture.sinkCount == 0)
        #expect(try fixture.control.figures.failures == 1)
        guard isMounted else { return }
        let file = try #require(try fixture.control.files(room: RecordingFixture.room).first)
        #expect(file.state == .failed)
        #expect(file.duration > 3)
        let recording = try await TestSupport.Recording(path: fixture.path(file))
        #expect(abs(recording.duration(.video) + 1.0 / 30 - file.duration) < 0.1)
        #expect(recording.packets(.video).count % 30 == 0)
    }

    @Test("F39 leaves a playable file when the process dies and truncates it at the next start")
    func interrupted() async throws {
        let folder = try TemporaryFolder("interrupted")
        var path = ""
        let fixture = try RecordingFixture(folder)
        try fixture.begin()
        let clip = try await EncodedClip.red.value
        fixture.play(clip)
        let control = try fixture.control
        let isWritten = try await eventually {
            (control.files(room: RecordingFixture.room).first?.duration ?? 0) > 5.9
        }
        #expect(isWritten)
        let written = try #require(control.files(room: RecordingFixture.room).first)
        path = try fixture.path(written)
        // Simulates a process that dies during its next write.
        let copy = try TemporaryFolder("copy")
        let roomFolder = copy.path + "/recordings/" + RecordingFixture.roomSID
        try FileManager.default.createDirectory(atPath: copy.path + "/recordings", withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: (path as NSString).deletingLastPathComponent, toPath: roomFolder)
        let torn = "\(roomFolder)/\(written.sid).mp4"
        let handle = try #require(FileHandle(forWritingAtPath: torn))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data([0, 0, 4, 0]) + Data("moof".utf8) + Data(repeating: 0, count: 300))
        try handle.close()
        let asItWas = try await TestSupport.Recording(path: torn)
        #expect(asItWas.packets(.video).count == 180)

        let next = try RecordingFixture(copy)
        let found = try #require(try next.control.file(written.sid))
        #expect(found.state == .interrupted)
        #expect(abs(found.duration - 6) < 0.05)
        #expect(found.bytes == written.bytes)
        #expect(try FileManager.default.attributesOfItem(atPath: torn)[.size] as? Int == written.bytes)
        let recording = try await TestSupport.Recording(path: next.path(found))
        #expect(recording.packets(.video).count == 180)
        #expect(try next.control.files(room: RecordingFixture.room).map(\.sid) == [written.sid])
        _ = try await fixture.end()
    }

    @Test("drops whole GOPs and counts them when the disk is too slow")
    func slowDisk() {
        var queue = RecordingQueue(limit: 100_000)
        let packets = SyntheticPackets.packets(seconds: 6, frameBytes: 1000)
        for packet in packets { queue.append(packet) }
        queue.end()
        let queued = queue.drain()
        let frames = queued.compactMap {
            if case .packet(let packet) = $0, packet.isVideo, !packet.isConfiguration { packet } else { nil }
        }
        // One GOP of 60 frames fits; the second is dropped although 40 of its frames were queued.
        #expect(frames.count == 60)
        #expect(frames.last?.timestamp == 1966)
        #expect(queue.dropped == 120)
        guard case .end? = queued.last else {
            Issue.record("the end is missing")
            return
        }
    }

    @Test("continues with a keyframe after a gap")
    func resumesAfterGap() {
        var queue = RecordingQueue(limit: 100_000)
        let packets = SyntheticPackets.packets(seconds: 8, frameBytes: 1000)
        for packet in packets.prefix(2 + 110) { queue.append(packet) }
        #expect(queue.drain().count == 62)
        for packet in packets.dropFirst(2 + 110) { queue.append(packet) }
        let rest = queue.drain()
        guard case .gap? = rest.first, case .packet(let first)? = rest.dropFirst().first else {
            Issue.record("no gap")
            return
        }
        #expect(first.isKeyframe)
        #expect(first.timestamp == 4000)
    }
}
