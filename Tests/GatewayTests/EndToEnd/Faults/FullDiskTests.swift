import Foundation
import Glibc
import Media
import TestSupport
import Testing

@Suite("Full disk during a recording", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(1)))
struct FullDiskTests {
    /// Whether this process may mount a tmpfs, which not every container permits.
    private static let mayMount: Bool = {
        guard let folder = try? TemporaryFolder("mount"), mount("tmpfs", folder.path, "tmpfs", 0, "size=64k") == 0
        else {
            return false
        }
        return umount(folder.path) == 0
    }()

    @Test(
        "F31 F39 ends the recording with an event and stays on air; the written part plays after kill -9",
        .enabled(if: mayMount)
    )
    func full() async throws {
        let stage = try await RoomFixture(room: "disk", environment: ["FOOTLIGHT_RECORDINGS_RESERVE": "0"])
        let folder = stage.gateway.dataFolder + "/recordings"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try await ChildProcess.run(["mount", "-t", "tmpfs", "-o", "size=1800k", "tmpfs", folder])
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await fill(stage, folder))
        } catch {
            outcome = .failure(error)
        }
        stage.gateway.end()
        try await ChildProcess.run(["umount", "-l", folder])
        try outcome.get()
    }

    private func fill(_ stage: RoomFixture, _ folder: String) async throws {
        let gateway = stage.gateway
        let clip = try await stage.clip(HostScript(.red, tone: 440))
        let ada = try await stage.join("ada")
        let encoder = try stage.publish(clip, as: ada)
        try await stage.waitUntilOnAir()
        let events = try EventLog(of: stage.room, on: gateway)
        let first = try await events.wait(for: "room.snapshot")
        let player = try Players.flv(gateway.flvURL(room: stage.room))
        try await stage.expect(202, "POST", stage.path("recording/start"))

        let failed = try await events.wait(for: "recording.failed", after: first.id, within: .seconds(40))
        let full = MonotonicTime.now()
        #expect(failed.data["error"]["code"].int == 5001)
        #expect(failed.data["error"]["cause"].string?.contains("no space is left on the disk") == true)
        let status = try await stage.expect(200, "GET", stage.path("recording"))
        #expect(status["state"].string == "RECORDING_STOPPED", "\(status.text)")

        // Nothing else was affected.
        let next = try await player.tail.keyframe(after: full, within: .seconds(20))
        #expect(next != nil && player.child.isRunning && encoder.isRunning)
        // Audio is never dropped; a slow machine may drop whole video frames.
        #expect(player.tail.steps { $0.kind == .audio }.allSatisfy { (21...22).contains($0) })
        let videoSteps = player.tail.steps { $0.isVideo }
        let others = videoSteps.filter { $0 > 34 }
        #expect(videoSteps.allSatisfy { $0 > 0 && FLVFollower.isWholeFrames($0) && $0 < 1000 }, "\(others)")
        #expect(gateway.mixers(of: stage.room).count == 1)

        try await gateway.kill9()
        try await gateway.start()
        let files = try await stage.expect(200, "GET", stage.path("recordings"))["recordings"].elements
        // On a full disk even the failed state may be missing; the file's content is found all the same.
        let file = try #require(files.first { ($0["duration"].double ?? 0) >= 1.9 }, "\(files.map(\.text))")
        let sid = try #require(file["sid"].string)
        #expect(["failed", "interrupted"].contains(file["state"].string ?? ""), "\(file.text)")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
        let name = try #require(names.first { $0.hasSuffix("\(sid).mp4") })
        let recording = try await Recording(path: "\(folder)/\(name)")
        #expect(abs(recording.duration(.video) + 1.0 / 30 - (file["duration"].double ?? 0)) < 0.1)
        #expect(try await Players.decodeErrors(about: "\(folder)/\(name)").isEmpty)
    }
}
