import Foundation
import Glibc
import RTMP
import Testing

@testable import Gateway

@Suite("Child processes", .serialized, .timeLimit(.minutes(1)))
struct SpawnedProcessTests {
    private struct Exit: Equatable {
        let status: Int32
        let wasSignalled: Bool
    }

    /// Runs a shell script and returns its exit.
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
        // No process receives the signal.
        child.signal(SIGKILL)
        return exit
    }

    @Test("a child exits with its status or by a signal, with the given environment")
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

    @Test("starts children with thousands of open descriptors, which are not inherited")
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

@Suite("Environment of a mixer")
struct MixerEnvironmentTests {
    @Test("inherits paths, locale and mixer settings, and none of the gateway's secrets")
    func environment() {
        let kept = [
            "PATH": "/usr/bin", "LANG": "de_DE.UTF-8", "LC_ALL": "C", "TZ": "UTC", "FONTCONFIG_FILE": "/fonts.conf",
            "FOOTLIGHT_MIXER_RECORD_ARRIVALS": "/tmp/arrivals", "SWIFT_BACKTRACE": "enable=no",
        ]
        let secrets = [
            "AWS_SECRET_ACCESS_KEY": "a", "FOOTLIGHT_DATA_DIR": "/srv", "FOOTLIGHT_TLS_KEY": "/key.pem",
            "LD_PRELOAD": "x", "FOOTLIGHT_TOKEN": "t", "SSH_AUTH_SOCK": "/tmp/s",
        ]
        #expect(RunningMixer.inherited(from: kept.merging(secrets) { $1 }) == kept)
    }
}
