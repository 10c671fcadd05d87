import Foundation
import Mixer

#if canImport(Glibc)
import Glibc
#endif

/// One running mixer process.
///
/// Its standard input is a socket that this process holds open and never writes to: when the gateway goes, however it
/// goes, the socket closes and the mixer ends itself. Over it the mixer has its connections made.
final class MixerProcess: Sendable {
    private let process: SpawnedProcess
    private let broker: MixerBroker
    private let marksFile: String

    /// Starts the process.
    ///
    /// - Parameters:
    ///   - executable: Path of the `footlight` program.
    ///   - environment: Added to what is inherited; carries the token, which must not show in the process list.
    ///   - marks: The file in which it marks whose media it is decoding.
    ///   - broker: Connects its sockets.
    ///   - onExit: Called once, on a thread of its own, when the process is gone.
    init(
        executable: String,
        arguments: [String],
        environment: [String: String],
        marks: String,
        broker: MixerBroker,
        onExit: @escaping @Sendable (_ status: Int32, _ wasSignalled: Bool) -> Void
    ) throws {
        marksFile = marks
        self.broker = broker
        let environment = Self.inherited(from: ProcessInfo.processInfo.environment).merging(environment) { $1 }
            .merging([RoomMixer.marksVariable: marks]) { $1 }
            .merging(CrashTrace.withoutBacktracer) { $1 }
        do {
            process = try SpawnedProcess(
                executable: executable,
                arguments: arguments,
                environment: environment,
                input: broker.mixerEnd,
                onExit: onExit
            )
        } catch {
            broker.abandon()
            throw error
        }
        broker.started()
    }

    /// What a mixer gets of its gateway's environment.
    ///
    /// That is where programs, fonts and time zones are, its own settings, and those of tools that look into a program.
    /// All else may be a secret.
    static func inherited(from environment: [String: String]) -> [String: String] {
        let names: Set = [
            "PATH", "HOME", "LANG", "TZ", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "LD_LIBRARY_PATH",
            "SWIFT_BACKTRACE", "ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "LLVM_PROFILE_FILE",
        ]
        let prefixes = ["LC_", "FONTCONFIG_", "FOOTLIGHT_MIXER_", "FOOTLIGHT_TEST_"]
        return environment.filter { name, _ in names.contains(name) || prefixes.contains { name.hasPrefix($0) } }
    }

    var isRunning: Bool { process.isRunning }

    var identifier: Int32 { process.identifier }

    /// The inputs whose media the process was decoding as it ended; to be asked once, when it is gone.
    func takeMarks() -> [String] {
        defer { unlink(marksFile) }
        return marks
    }

    /// The inputs whose media the process is decoding.
    var marks: [String] { WorkMarks.marked(in: marksFile) }

    /// Asks the process to end: its standard input ends, and it gets SIGTERM.
    func end() {
        broker.hangUp()
        process.signal(SIGTERM)
    }

    /// Ends the process without asking.
    func kill() {
        process.signal(SIGKILL)
    }
}
