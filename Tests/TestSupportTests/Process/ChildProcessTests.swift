import FootlightTesting
import Foundation
import Glibc
@testable import TestSupport
import Testing

@Suite("Child process") struct ChildProcessTests {
    @Test("reports its exit status and output")
    func reportsExit() async throws {
        let child = try ChildProcess(["sh", "-c", "echo out; echo err >&2; exit 7"])
        #expect(try await child.wait(.seconds(20)) == .code(7))
        #expect(child.standardOutput == "out\n")
        #expect(child.standardError == "err\n")
        #expect(!child.isRunning)
    }

    @Test("throws immediately for a missing program")
    func missingProgram() {
        #expect(throws: ToolFailure.self) { try ChildProcess(["footlight-no-such-program"]) }
    }

    @Test("includes the program's last output in a failure")
    func failureCarriesLog() async throws {
        let failure = await #expect(throws: ToolFailure.self) {
            try await ChildProcess.run(["sh", "-c", "echo the reason >&2; exit 1"])
        }
        #expect(failure?.description.contains("the reason") == true)
    }

    @Test("keeps running beyond the deadline and stops on request")
    func stops() async throws {
        let child = try ChildProcess(["sleep", "60"])
        #expect(try await child.wait(.milliseconds(50)) == nil)
        #expect(try await child.stop() == .signal(SIGTERM))
    }

    @Test("kills a program that ignores SIGTERM")
    func kills() async throws {
        let child = try ChildProcess(["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.05; done"])
        #expect(try await eventually { child.standardOutput == "ready\n" })
        #expect(try await child.stop(within: .milliseconds(200)) == nil)
        #expect(child.exit == .signal(SIGKILL))
    }

    @Test("kills all descendants, including those in their own session, without leaving zombies")
    func endsDescendants() async throws {
        let child = try ChildProcess(["sh", "-c", "sleep 60 & setsid sleep 61 & wait"])
        #expect(try await eventually { child.descendants.count == 2 })
        let all = child.descendants + [child.pid]
        child.end()
        #expect(try await eventually { !all.contains(where: RunningProcess.isAlive) })
        #expect(RunningProcess.all().contains(child.pid) == false)
        #expect(child.exit == .signal(SIGKILL))
    }

    @Test("ends when its value is released")
    func endsWithItsOwner() async throws {
        var child: ChildProcess? = try ChildProcess(["sleep", "60"])
        let pid = try #require(child?.pid)
        #expect(RunningProcess.isAlive(pid))
        // The spawn may return before the arguments are visible.
        #expect(try await eventually { RunningProcess.arguments(of: pid) == ["sleep", "60"] })
        child = nil
        #expect(!RunningProcess.all().contains(pid))
    }

    @Test("kills the remaining registered groups when the reaper's socket closes")
    func reapsRemainingGroups() async throws {
        let children = try (0..<3).map { _ in try ChildProcess(["sh", "-c", "sleep 60 & wait"]) }
        do {
            let reaper = try ChildReaper()
            for child in children { reaper.add(child.pid) }
            reaper.remove(children[1].pid)
        }
        #expect(try await children[0].wait(.seconds(20)) == .signal(SIGKILL))
        #expect(try await children[2].wait(.seconds(20)) == .signal(SIGKILL))
        #expect(children[1].isRunning)
    }

    @Test("inherits no descriptors and no ignored signals")
    func cleanStart() async throws {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        let descriptors = try await ChildProcess.run(["sh", "-c", "ls /proc/$$/fd"])
        #expect(descriptors == "0\n1\n2\n")
        let ignored = try await ChildProcess.run(["grep", "SigIgn", "/proc/self/status"])
        let mask = try #require(UInt64(ignored.dropFirst(8).dropLast(), radix: 16))
        // Signals 32 and 33 are reserved by the C library.
        #expect(mask & 0x7FFF_FFFF == 0)
    }

    @Test("reports the CPU time and memory of a process")
    func usage() async throws {
        let child = try ChildProcess(["sh", "-c", "while :; do :; done"])
        #expect(
            try await eventually { (RunningProcess.processorSeconds(of: child.pid) ?? 0) > 0.05 }
        )
        #expect(try #require(RunningProcess.residentBytes(of: child.pid)) > 100_000)
    }
}

@Suite("Temporary folders and free ports") struct FolderAndPortTests {
    @Test("deletes a folder with its value and lists its files oldest first")
    func folder() throws {
        var folder: TemporaryFolder? = try TemporaryFolder("mine")
        let path = try #require(folder?.path)
        let later = try #require(try folder?.write("b", to: "a.txt"))
        let earlier = try #require(try folder?.write("a", to: "b.txt"))
        let old = Date(timeIntervalSinceNow: -60)
        try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: earlier)
        #expect(try folder?.files(endingWith: ".txt") == [earlier, later])
        folder = nil
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("returns distinct unused ports")
    func ports() async throws {
        let ports = try FreePort.pick(8)
        #expect(Set(ports).count == 8)
        #expect(!ports.contains(where: FreePort.isListening))
        await #expect(throws: ToolFailure.self) {
            try await FreePort.waitUntilListening(ports[0], within: .milliseconds(30))
        }
    }
}
