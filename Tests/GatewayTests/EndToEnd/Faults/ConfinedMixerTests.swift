import FootlightTesting
import Foundation
import Glibc
import Media
@testable import MixerProcess
import TestSupport
import Testing

@Suite(
    "Confinement of a compromised mixer",
    .enabled(if: TestRun.isFull),
    .serialized,
    .timeLimit(.minutes(2)),
    .enabled(if: !MixerConfinement.isInstrumented, "mixers of sanitizer builds are not confined")
)
struct ConfinedMixerTests {
    /// A room on air with fault injection.
    private struct Scene {
        let stage: RoomFixture
        let encoder: ChildProcess
        let viewer: (child: ChildProcess, tail: FLVFollower)
        let mixer: Int32
    }

    private func scene(_ room: String, _ environment: [String: String]) async throws -> Scene {
        let stage = try await RoomFixture(room: room, environment: environment)
        let clip = try await stage.clip(HostScript(.red, tone: 440))
        let encoder = try stage.publish(clip, as: try await stage.join("red"))
        try await stage.waitUntilOnAir()
        let viewer = try Players.flv(stage.gateway.flvURL(room: room))
        _ = try await viewer.tail.keyframe(after: MonotonicTime(nanoseconds: 0), within: .seconds(10))
        let mixer = try #require(stage.gateway.mixers(of: room).first)
        return Scene(stage: stage, encoder: encoder, viewer: (viewer.child, viewer.tail), mixer: mixer)
    }

    /// Triggers the action, and waits for a new mixer and its program at the same viewer.
    private func trigger(_ scene: Scene) async throws {
        let (gateway, start) = (scene.stage.gateway, MonotonicTime.now())
        kill(scene.mixer, SIGUSR2)
        let isGone = try await eventually(within: .seconds(30)) { !RunningProcess.isAlive(scene.mixer) }
        #expect(isGone, "the mixer is still there: \(gateway.log)")
        let next = try await scene.viewer.tail.keyframe(after: .now(), within: .seconds(15))
        let wait = try #require(next, "no frame: \(gateway.log)").time.seconds(since: start)
        print("\(scene.stage.room): next frame after \(wait) s")
        let isReplaced = try await eventually { gateway.mixers(of: scene.stage.room).contains { $0 != scene.mixer } }
        #expect(isReplaced && scene.encoder.isRunning && scene.viewer.child.isRunning && gateway.isRunning)
    }

    private func line(_ scene: Scene, _ words: [String]) -> Bool {
        scene.stage.gateway.log.split(separator: "\n").contains { line in words.allSatisfy { line.contains($0) } }
    }

    @Test(
        "exec, fork and a signal to the gateway end the mixer, and the log names the system call",
        arguments: [("exec", "call=execve"), ("fork", "as by posix_spawn"), ("kill", "call=kill")]
    )
    func programs(action: String, call: String) async throws {
        let scene = try await scene(action, ["FOOTLIGHT_MIXER_MISBEHAVE": action])
        try await trigger(scene)
        let words = ["mixer ended for a forbidden system call", call, "room=\(action)"]
        #expect(line(scene, words), "\(scene.stage.gateway.log)")
        #expect(line(scene, ["mixer ended", action == "fork" ? "status=\(SIGSYS)" : "status=97"]))
    }

    @Test("a connection elsewhere than to the gateway ends the mixer, and the log has its address")
    func connections() async throws {
        let server = try await TestWebServer([:])
        let scene = try await scene("elsewhere", ["FOOTLIGHT_MIXER_MISBEHAVE": "connect \(server.port)"])
        try await trigger(scene)
        let words = ["mixer ended for a forbidden system call", "call=connect", "address=127.0.0.1:\(server.port)"]
        #expect(line(scene, words), "\(scene.stage.gateway.log)")
        #expect(server.requestedPaths.isEmpty)
    }

    @Test("a mixer cannot read the signing key or other data files", .enabled(if: LandlockSupport.isThere))
    func files() async throws {
        let scene = try await scene("thief", ["FOOTLIGHT_MIXER_MISBEHAVE": "read signing.key"])
        #expect(FileManager.default.fileExists(atPath: scene.stage.gateway.dataFolder + "/signing.key"))
        try await trigger(scene)
        let words = [
            "an injected action was performed", "action=read signing.key", "outcome=refused: Permission denied",
        ]
        #expect(line(scene, words), "\(scene.stage.gateway.log)")
        // The mixer's own message is among the latest of the room.
        let events = try await scene.stage.gateway.api("GET", "/v1/system/events?level=error&room=thief").json["events"]
        let own = events.elements.first { $0["message"].string == words[0] }
        #expect(own?["logger"].string == "footlight.mixer" && own?["metadata"]["action"].string == "read signing.key")
    }

    @Test(
        "a mixer cannot change the gateway's limits, priority or signal owner",
        arguments: [("limit", "call=prlimit64"), ("priority", "call=setpriority"), ("owner", "call=fcntl")]
    )
    func parent(action: String, call: String) async throws {
        let scene = try await scene(action, ["FOOTLIGHT_MIXER_MISBEHAVE": action])
        let files = ["limits", "stat"].map { "/proc/\(scene.stage.gateway.endpoints.pid)/\($0)" }
        let limits = FileManager.default.contents(atPath: files[0])
        let nice = try niceness(files[1])
        try await trigger(scene)
        #expect(line(scene, ["mixer was refused a system call", call, "room=\(action)"]), "\(scene.stage.gateway.log)")
        #expect(line(scene, ["an injected action was performed", "outcome=refused: Operation not permitted"]))
        #expect(FileManager.default.contents(atPath: files[0]) == limits)
        #expect(try niceness(files[1]) == nice)
    }

    /// Returns the nice value of `/proc/PID/stat`, its 19th field.
    private func niceness(_ file: String) throws -> String {
        let text = String(decoding: try #require(FileManager.default.contents(atPath: file)), as: UTF8.self)
        // The second field is the process name in parentheses, which may contain spaces.
        let fields = try #require(text.split(separator: ")").last).split(separator: " ")
        return String(try #require(fields.count > 16 ? fields[16] : nil))
    }

    @Test("refuses memory beyond the limit to that mixer only")
    func memory() async throws {
        let settings = ["FOOTLIGHT_MIXER_MISBEHAVE": "allocate", "FOOTLIGHT_MIXER_MEMORY": "1024"]
        let scene = try await scene("glutton", settings)
        try await trigger(scene)
        let match = scene.stage.gateway.log.firstMatch(of: /action=allocate .*outcome=refused after (\d+) MiB/)
        let amount = try #require(match.flatMap { Int($0.output.1) }, "\(scene.stage.gateway.log)")
        // The memory limit applies, not the fourfold limit on address space.
        #expect(amount < 1024)
    }

    @Test("a mixer has no secrets in its environment, no new privileges, no dumps, and a seccomp filter")
    func status() async throws {
        let scene = try await scene("plain", ["AWS_SECRET_ACCESS_KEY": "sentinel"])
        let folder = "/proc/\(scene.mixer)"
        // Only root can read it.
        let environment = FileManager.default.contents(atPath: folder + "/environ").map {
            String(decoding: $0, as: UTF8.self)
        }
        if geteuid() == 0 {
            #expect(environment?.contains("FOOTLIGHT_MIXER_TOKEN=") == true)
            #expect(environment?.contains("sentinel") == false)
        } else {
            #expect(environment == nil)
        }
        let status = String(decoding: FileManager.default.contents(atPath: folder + "/status") ?? Data(), as: UTF8.self)
        #expect(status.contains("NoNewPrivs:\t1") && status.contains("Seccomp:\t2"), "\(status)")
        let limits = String(decoding: FileManager.default.contents(atPath: folder + "/limits") ?? Data(), as: UTF8.self)
        for limit in ["Max core file size", "Max address space", "Max data size", "Max open files"] {
            let line = try #require(limits.split(separator: "\n").first { $0.hasPrefix(limit) })
            #expect(!line.contains("unlimited"), "\(line)")
            if limit == "Max open files" { #expect(line.contains(" 4096 "), "\(line)") }
        }
        let log = scene.stage.gateway.log
        #expect(!LandlockSupport.isThere || !log.contains("cannot fully confine"), "\(log)")
        #expect(!scene.stage.gateway.log.contains("was refused a system call"), "\(scene.stage.gateway.log)")
    }
}

/// Detects Landlock.
private enum LandlockSupport {
    static var isThere: Bool {
        let names = FileManager.default.contents(atPath: "/sys/kernel/security/lsm")
        // Without securityfs, the mixer's warning shows whether Landlock is missing.
        return names.map { String(decoding: $0, as: UTF8.self).contains("landlock") } ?? true
    }
}
