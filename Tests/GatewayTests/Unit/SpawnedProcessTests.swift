import Foundation
@testable import Gateway
import Glibc
import RTMP
import Testing

@Suite("Children of the gateway", .serialized, .timeLimit(.minutes(1)))
struct SpawnedProcessTests {
    private struct Exit: Equatable {
        let status: Int32
        let wasSignalled: Bool
    }

    /// Runs a script of the shell, and says how it ended.
    private func run(_ script: String, during body: (SpawnedProcess) -> Void = { _ in }) async throws -> Exit? {
        let (exits, continuation) = AsyncStream.makeStream(of: Exit.self)
        let input = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(input) }
        let child = try SpawnedProcess(
            executable: "/bin/sh",
            arguments: ["-c", script],
            environment: ["PATH": "/usr/bin:/bin", "WORD": "7"],
            input: input
        ) { status, wasSignalled in
            continuation.yield(Exit(status: status, wasSignalled: wasSignalled))
            continuation.finish()
        }
        body(child)
        var iterator = exits.makeAsyncIterator()
        let exit = await iterator.next()
        #expect(!child.isRunning)
        // Nobody is signalled any more.
        child.signal(SIGKILL)
        return exit
    }

    @Test("A child ends with its status, or by a signal, and sees what it was given")
    func ends() async throws {
        #expect(try await run("exit 3") == Exit(status: 3, wasSignalled: false))
        #expect(try await run("exit $WORD") == Exit(status: 7, wasSignalled: false))
        let killed = try await run("sleep 50") { child in
            #expect(child.isRunning)
            child.signal(SIGKILL)
        }
        #expect(killed == Exit(status: SIGKILL, wasSignalled: true))
        #expect(throws: SpawnedProcess.Failure.self) {
            try SpawnedProcess(executable: "/none/such", arguments: [], environment: [:], input: 0) { _, _ in }
        }
    }

    @Test("With thousands of descriptors open, children start all the same, and inherit none of them")
    func descriptors() async throws {
        DescriptorLimit.raise()
        let open = (0..<3_000).map { _ in Glibc.open("/dev/null", O_RDONLY) }
        defer { for descriptor in open { close(descriptor) } }
        #expect(open.allSatisfy { $0 >= 0 })
        for _ in 0..<20 {
            let exit = try #require(try await run("exit $(ls /proc/$$/fd | wc -l)"))
            #expect(!exit.wasSignalled && exit.status <= 6, "\(exit)")
        }
    }
}
