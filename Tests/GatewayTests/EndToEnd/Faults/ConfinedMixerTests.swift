import FootlightTesting
import Foundation
@testable import Gateway
import Glibc
import Media
import Testing

@Suite(
    "What has taken hold of a mixer is stopped",
    .serialized,
    .timeLimit(.minutes(2)),
    .enabled(if: !MixerConfinement.isInstrumented, "mixers of sanitizer builds are not confined")
)
struct ConfinedMixerTests {
    /// A room on air, whose mixers can be made to do what no mixer may.
    private struct Scene {
        let stage: FaultStage
        let encoder: ChildProcess
        let viewer: (child: ChildProcess, tail: FLVTail)
        let mixer: Int32
    }

    private func scene(_ room: String, _ environment: [String: String]) async throws -> Scene {
        let stage = try await FaultStage(room: room, environment: environment)
        let clip = try await stage.clip(HostScript(.red, tone: 440))
        let encoder = try stage.publish(clip, as: try await stage.join("red"))
        try await stage.waitUntilOnAir()
        let viewer = try Players.flv(stage.gateway.flvURL(room: room))
        _ = try await viewer.tail.keyPicture(after: MonotonicTime(nanoseconds: 0), within: .seconds(10))
        let mixer = try #require(stage.gateway.mixers(of: room).first)
        return Scene(stage: stage, encoder: encoder, viewer: (viewer.child, viewer.tail), mixer: mixer)
    }

    /// Has the deed done, and waits for a new mixer whose program the same viewer sees.
    private func provoke(_ scene: Scene) async throws {
        let (gateway, start) = (scene.stage.gateway, MonotonicTime.now())
        kill(scene.mixer, SIGUSR2)
        let isGone = try await eventually(within: .seconds(30)) { !RunningProcess.isAlive(scene.mixer) }
        #expect(isGone, "the mixer is still there: \(gateway.log)")
        let next = try await scene.viewer.tail.keyPicture(after: .now(), within: .seconds(15))
        let wait = try #require(next, "no picture: \(gateway.log)").time.seconds(since: start)
        print("\(scene.stage.room): next picture after \(wait) s")
        let isReplaced = try await eventually { gateway.mixers(of: scene.stage.room).contains { $0 != scene.mixer } }
        #expect(isReplaced && scene.encoder.isRunning && scene.viewer.child.isRunning && gateway.isRunning)
    }

    private func line(_ scene: Scene, _ words: [String]) -> Bool {
        scene.stage.gateway.log.split(separator: "\n").contains { line in words.allSatisfy { line.contains($0) } }
    }

    @Test(
        "A program or process that is started, or a signal to the gateway, ends the mixer; the log says which call it was",
        arguments: [("exec", "call=execve"), ("fork", "such as that of a new process"), ("kill", "call=kill")]
    )
    func programs(deed: String, call: String) async throws {
        let scene = try await scene(deed, ["FOOTLIGHT_MIXER_MISBEHAVE": deed])
        try await provoke(scene)
        #expect(line(scene, ["a mixer tried what it may not do", call, "room=\(deed)"]), "\(scene.stage.gateway.log)")
        #expect(line(scene, ["mixer ended", deed == "fork" ? "status=\(SIGSYS)" : "status=97"]))
    }

    @Test("A connection to anywhere but the gateway ends the mixer, and the log says where it was to lead")
    func connections() async throws {
        let server = try await SmallWebServer([:])
        let scene = try await scene("elsewhere", ["FOOTLIGHT_MIXER_MISBEHAVE": "connect \(server.port)"])
        try await provoke(scene)
        let words = ["a mixer tried what it may not do", "call=connect", "address=127.0.0.1:\(server.port)"]
        #expect(line(scene, words), "\(scene.stage.gateway.log)")
        #expect(server.asked.isEmpty)
    }

    @Test("The signing key and the rest of the data folder cannot be read", .enabled(if: LandlockSupport.isThere))
    func files() async throws {
        let scene = try await scene("thief", ["FOOTLIGHT_MIXER_MISBEHAVE": "read signing.key"])
        #expect(FileManager.default.fileExists(atPath: scene.stage.gateway.dataFolder + "/signing.key"))
        try await provoke(scene)
        let words = ["a forbidden deed was tried", "deed=read signing.key", "outcome=refused: Permission denied"]
        #expect(line(scene, words), "\(scene.stage.gateway.log)")
    }

    @Test(
        "The gateway's limits and priority cannot be set, nor signals be sent to it, by its mixer",
        arguments: [("limit", "call=prlimit64"), ("priority", "call=setpriority"), ("owner", "call=fcntl")]
    )
    func parent(deed: String, call: String) async throws {
        let scene = try await scene(deed, ["FOOTLIGHT_MIXER_MISBEHAVE": deed])
        let files = ["limits", "stat"].map { "/proc/\(scene.stage.gateway.endpoints.pid)/\($0)" }
        let limits = FileManager.default.contents(atPath: files[0])
        let nice = try niceness(files[1])
        try await provoke(scene)
        #expect(line(scene, ["a mixer was refused a system call", call, "room=\(deed)"]), "\(scene.stage.gateway.log)")
        #expect(line(scene, ["a forbidden deed was tried", "outcome=refused: Operation not permitted"]))
        #expect(FileManager.default.contents(atPath: files[0]) == limits)
        #expect(try niceness(files[1]) == nice)
    }

    /// The priority that `/proc/PID/stat` tells of, its nineteenth field.
    private func niceness(_ file: String) throws -> String {
        let text = String(decoding: try #require(FileManager.default.contents(atPath: file)), as: UTF8.self)
        // The second field is a name in brackets, which may have blanks in it.
        let fields = try #require(text.split(separator: ")").last).split(separator: " ")
        return String(try #require(fields.count > 16 ? fields[16] : nil))
    }

    @Test("Memory without end is refused at the limit, and nobody but that mixer has any less")
    func memory() async throws {
        let settings = ["FOOTLIGHT_MIXER_MISBEHAVE": "allocate", "FOOTLIGHT_MIXER_MEMORY": "1024"]
        let scene = try await scene("glutton", settings)
        try await provoke(scene)
        let told = scene.stage.gateway.log.firstMatch(of: /deed=allocate .*outcome=refused after (\d+) MiB/)
        let amount = try #require(told.flatMap { Int($0.output.1) }, "\(scene.stage.gateway.log)")
        // Of memory, not of address space, of which it may have four times as much.
        #expect(amount < 1024)
    }

    @Test("A mixer has no secrets, gains no privileges, cannot be looked into, and is held by a filter")
    func status() async throws {
        let scene = try await scene("plain", ["AWS_SECRET_ACCESS_KEY": "sentinel"])
        let folder = "/proc/\(scene.mixer)"
        // Nobody but root can look.
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
        #expect(!LandlockSupport.isThere || !log.contains("cannot confine"), "\(log)")
        #expect(!scene.stage.gateway.log.contains("was refused a system call"), "\(scene.stage.gateway.log)")
    }
}

/// Whether this kernel has rules of files for processes.
private enum LandlockSupport {
    static var isThere: Bool {
        let names = FileManager.default.contents(atPath: "/sys/kernel/security/lsm")
        // Where the list is not mounted, a mixer that is not confined in full says so.
        return names.map { String(decoding: $0, as: UTF8.self).contains("landlock") } ?? true
    }
}
