import Foundation
@testable import FootlightTesting
import Glibc
import Testing

@Suite("A child process") struct ChildProcessTests {
    @Test("Its status and what it wrote are told")
    func tellsItsEnd() async throws {
        let child = try ChildProcess(["sh", "-c", "echo out; echo err >&2; exit 7"])
        #expect(try await child.wait(.seconds(20)) == .code(7))
        #expect(child.standardOutput == "out\n")
        #expect(child.standardError == "err\n")
        #expect(!child.isRunning)
    }

    @Test("A program that is not there is a failure at once")
    func missingProgram() {
        #expect(throws: ToolFailure.self) { try ChildProcess(["footlight-no-such-program"]) }
    }

    @Test("A failure carries what the program said last")
    func failureCarriesLog() async throws {
        let failure = await #expect(throws: ToolFailure.self) {
            try await ChildProcess.run(["sh", "-c", "echo the reason >&2; exit 1"])
        }
        #expect(failure?.description.contains("the reason") == true)
    }

    @Test("One that does not end in time still runs, and stops on request")
    func stops() async throws {
        let child = try ChildProcess(["sleep", "60"])
        #expect(try await child.wait(.milliseconds(50)) == nil)
        #expect(try await child.stop() == .signal(SIGTERM))
    }

    @Test("One that ignores SIGTERM is killed")
    func kills() async throws {
        let child = try ChildProcess(["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.05; done"])
        #expect(try await eventually { child.standardOutput == "ready\n" })
        #expect(try await child.stop(within: .milliseconds(200)) == nil)
        #expect(child.exit == .signal(SIGKILL))
    }

    @Test("Ending it ends its children, one in a session of its own too, and leaves no zombie")
    func endsDescendants() async throws {
        let child = try ChildProcess(["sh", "-c", "sleep 60 & setsid sleep 61 & wait"])
        #expect(try await eventually { child.descendants.count == 2 })
        let all = child.descendants + [child.pid]
        child.end()
        #expect(try await eventually { !all.contains(where: RunningProcess.isAlive) })
        #expect(RunningProcess.all().contains(child.pid) == false)
        #expect(child.exit == .signal(SIGKILL))
    }

    @Test("A child whose owner is gone is gone")
    func endsWithItsOwner() async throws {
        var child: ChildProcess? = try ChildProcess(["sleep", "60"])
        let pid = try #require(child?.pid)
        #expect(RunningProcess.isAlive(pid))
        // The spawn returns as soon as the new image holds; its arguments are written a moment later.
        #expect(try await eventually { RunningProcess.arguments(of: pid) == ["sleep", "60"] })
        child = nil
        #expect(!RunningProcess.all().contains(pid))
    }

    @Test("The guard kills the groups it still knows when its socket closes, and no other")
    func guarded() async throws {
        let children = try (0..<3).map { _ in try ChildProcess(["sh", "-c", "sleep 60 & wait"]) }
        do {
            let guardian = try ChildGuard()
            for child in children { guardian.add(child.pid) }
            guardian.remove(children[1].pid)
        }
        #expect(try await children[0].wait(.seconds(20)) == .signal(SIGKILL))
        #expect(try await children[2].wait(.seconds(20)) == .signal(SIGKILL))
        #expect(children[1].isRunning)
    }

    @Test("It inherits no descriptor and no ignored signal")
    func cleanStart() async throws {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        let descriptors = try await ChildProcess.run(["sh", "-c", "ls /proc/$$/fd"])
        #expect(descriptors == "0\n1\n2\n")
        let ignored = try await ChildProcess.run(["grep", "SigIgn", "/proc/self/status"])
        let mask = try #require(UInt64(ignored.dropFirst(8).dropLast(), radix: 16))
        // The bits of signals 32 and 33 are the C library's own.
        #expect(mask & 0x7FFF_FFFF == 0)
    }

    @Test("The time and memory it uses are told")
    func usage() async throws {
        let child = try ChildProcess(["sh", "-c", "while :; do :; done"])
        #expect(
            try await eventually { (RunningProcess.processorSeconds(of: child.pid) ?? 0) > 0.05 }
        )
        #expect(try #require(RunningProcess.residentBytes(of: child.pid)) > 100_000)
    }
}
