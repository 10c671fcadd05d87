import ControlAPI
import Foundation
import Glibc
import Logging
import Media
import MixerProcess
import NIOCore
import Stage

/// Starts mixer processes from this program's executable, each with a token for its room and epoch.
struct MixerLauncher: Sendable {
    let configuration: GatewayConfiguration
    let tokens: AccessTokens
    let ports: ListeningPorts
    let logger: Logger

    /// The default memory limit of a mixer in MiB; half of the machine's memory if that is less.
    private static let defaultMemory: UInt64 = 4_096
    /// A broadcast may last for days; a dead mixer's token is refused as soon as a newer epoch publishes.
    private static let tokenLifetime = 30.0 * 86_400

    @Sendable
    func launch(
        room: String,
        epoch: UInt64,
        onExit: @escaping @Sendable (Int32, Bool) -> Void
    ) async throws -> RunningMixer {
        let (rtmp, http) = try await listeningPorts()
        let token = try await tokens.issueMixer(room: room, epoch: epoch, expiresIn: Self.tokenLifetime)
        let host = GatewayConfiguration.mixerHost
        let arguments = MixerArguments(room: room, host: host, rtmpPort: rtmp, httpPort: http, epoch: epoch)
        let broker = try broker(for: room, host: host, ports: [rtmp, http])
        let log: MixerLogRelay
        do {
            log = try MixerLogRelay(room: room)
        } catch {
            broker.abandon()
            throw error
        }
        return try RunningMixer(
            executable: "/proc/self/exe",
            arguments: arguments.commandLine,
            environment: [
                MixerEnvironment.token: token,
                MixerEnvironment.confinement: configuration.mixerConfinement,
                MixerEnvironment.memory: "\(memory)",
                JSONLogHandler.variable: JSONLogHandler.format,
            ],
            markers: "\(configuration.dataDirectory)/mixer-\(room).marks",
            broker: broker,
            log: log
        ) { [logger] status, wasSignalled in
            if wasSignalled, status == SIGSYS {
                // The mixer could not report it: all signals are blocked while a process is spawned.
                let call: Logger.MetadataValue = "unknown, with signals blocked, as by posix_spawn"
                logger.error(Self.endedMessage, metadata: ["room": "\(room)", "call": call])
            }
            onExit(status, wasSignalled)
        }
    }

    private static let endedMessage: Logger.Message = "mixer ended for a forbidden system call"

    /// The memory limit of a mixer in MiB; 0 is no limit.
    private var memory: UInt64 {
        if let given = configuration.mixerMemory { return UInt64(given) }
        return min(Self.defaultMemory, ProcessInfo.processInfo.physicalMemory >> 21)
    }

    /// Makes the broker that connects a mixer to this gateway only, and logs refused system calls.
    private func broker(for room: String, host: String, ports: [Int]) throws -> MixerBroker {
        let targets = ports.compactMap { UInt16(exactly: $0) }.map { SocketTarget(address: host, port: $0) }
        return try MixerBroker(targets: Set(targets)) { [logger] refusal in
            var metadata: Logger.Metadata = ["room": "\(room)", "call": "\(refusal.call)"]
            if let target = refusal.target { metadata["address"] = "\(target)" }
            if refusal.isFatal {
                logger.error(Self.endedMessage, metadata: metadata)
            } else {
                logger.warning("mixer was refused a system call", metadata: metadata)
            }
        }
    }

    /// Waits for the ports of the mixer listeners, because restored rooms start mixers during startup.
    private func listeningPorts() async throws -> (rtmp: Int, http: Int) {
        let deadline = MonotonicTime.now().advanced(seconds: Self.listenTimeout)
        while true {
            let ports = ports.current
            if let rtmp = ports.mixerRTMP, let http = ports.mixerHTTP, ports.rtmp != nil, ports.http != nil,
                ports.admin != nil
            {
                return (rtmp, http)
            }
            guard .now() < deadline else { throw NotListening() }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// The timeout for the listeners to open, in seconds.
    private static let listenTimeout = 10.0

    private struct NotListening: Error {}
}
