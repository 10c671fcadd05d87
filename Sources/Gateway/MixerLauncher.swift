import ControlAPI
import Foundation
import Glibc
import Logging
import Media
import NIOCore

/// Starts mixer processes of this very program, each with a token that is good for its room and epoch alone.
struct MixerLauncher: Sendable {
    let configuration: GatewayConfiguration
    let tokens: AccessTokens
    let ports: ListeningPorts
    let logger: Logger

    /// The most memory that a mixer gets where nothing is set, in MiB; half of the machine's where that is less.
    private static let usualMemory: UInt64 = 4_096
    /// A show may go on for days; the token of a dead mixer is useless, for a newer epoch refuses it.
    private static let tokenLifetime = 30.0 * 86_400

    @Sendable
    func launch(
        room: String,
        epoch: UInt64,
        onExit: @escaping @Sendable (Int32, Bool) -> Void
    ) async throws -> MixerProcess {
        let (rtmp, http) = try await listeningPorts()
        let token = try await tokens.mint(
            identity: "mixer",
            room: room,
            role: .mixer,
            epoch: epoch,
            expiresIn: Self.tokenLifetime
        )
        let host = GatewayConfiguration.mixerHost
        let arguments = [
            "mixer", "--room", room, "--host", host, "--rtmp-port", "\(rtmp)", "--http-port", "\(http)",
            "--epoch", "\(epoch)",
        ]
        return try MixerProcess(
            executable: "/proc/self/exe",
            arguments: arguments,
            environment: [
                RoomMixer.tokenVariable: token,
                MixerConfinement.variable: configuration.mixerConfinement,
                MixerConfinement.memoryVariable: "\(memory)",
            ],
            marks: "\(configuration.dataDirectory)/mixer-\(room).marks",
            broker: try broker(for: room, host: host, ports: [rtmp, http])
        ) { [logger] status, wasSignalled in
            if wasSignalled, status == SIGSYS {
                // It could not say so itself: all signals are held back while a program is being started.
                let call: Logger.MetadataValue = "one with signals held back, such as that of a new process"
                logger.error(Self.endedMessage, metadata: ["room": "\(room)", "call": call])
            }
            onExit(status, wasSignalled)
        }
    }

    private static let endedMessage: Logger.Message = "a mixer tried what it may not do, and was ended"

    /// MiB that a mixer may fill; 0 is no limit.
    private var memory: UInt64 {
        if let given = configuration.mixerMemory { return UInt64(given) }
        return min(Self.usualMemory, ProcessInfo.processInfo.physicalMemory >> 21)
    }

    /// Connects a mixer to this gateway and to nothing else, and says what else it tried.
    private func broker(for room: String, host: String, ports: [Int]) throws -> MixerBroker {
        let targets = ports.compactMap { UInt16(exactly: $0) }.map { SocketTarget(address: host, port: $0) }
        return try MixerBroker(targets: Set(targets)) { [logger] refusal in
            var metadata: Logger.Metadata = ["room": "\(room)", "call": "\(refusal.call)"]
            if let target = refusal.target { metadata["address"] = "\(target)" }
            if refusal.isFatal {
                logger.error(Self.endedMessage, metadata: metadata)
            } else {
                logger.warning("a mixer was refused a system call", metadata: metadata)
            }
        }
    }

    /// The ports at which mixers reach this gateway; rooms of an earlier life ask for mixers while it still starts.
    private func listeningPorts() async throws -> (rtmp: Int, http: Int) {
        let deadline = MonotonicTime.now().advanced(seconds: Self.patience)
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

    /// Seconds in which the listeners are open, or will not be.
    private static let patience = 10.0

    private struct NotListening: Error {}
}
