import ControlAPI
import Foundation
import Media

/// Starts mixer processes of this very program, each with a token that is good for its room and epoch alone.
struct MixerLauncher: Sendable {
    let configuration: GatewayConfiguration
    let tokens: AccessTokens
    let ports: ListeningPorts

    /// A show may go on for days; the token of a dead mixer is useless, for a newer epoch refuses it.
    private static let tokenLifetime = 30.0 * 86_400

    @Sendable
    func launch(
        room: String,
        epoch: UInt64,
        onExit: @escaping @Sendable (Int32, Bool) -> Void
    ) async throws -> MixerProcess {
        let (rtmp, http, own) = try await listeningPorts()
        let token = try await tokens.mint(
            identity: "mixer",
            room: room,
            role: .mixer,
            epoch: epoch,
            expiresIn: Self.tokenLifetime
        )
        var arguments = [
            "mixer", "--room", room, "--host", loopback, "--rtmp-port", "\(rtmp)", "--http-port", "\(http)",
            "--epoch", "\(epoch)",
        ]
        if configuration.resolvedAllowsPrivateAssets {
            arguments += ["--allow-private-assets"] + own.flatMap { ["--own-port", "\($0)"] }
        }
        return try MixerProcess(
            executable: "/proc/self/exe",
            arguments: arguments,
            environment: [RoomMixer.tokenVariable: token],
            marks: "\(configuration.dataDirectory)/mixer-\(room).marks",
            onExit: onExit
        )
    }

    /// The ports to reach this gateway at, and all that it listens on; rooms of an earlier life ask for mixers while it
    /// still starts.
    private func listeningPorts() async throws -> (rtmp: Int, http: Int, own: [Int]) {
        let deadline = MonotonicTime.now().advanced(seconds: Self.patience)
        while true {
            let ports = ports.current
            if let rtmp = ports.rtmp, let http = ports.http, let admin = ports.admin {
                return (rtmp, http, [rtmp, http, admin, ports.rtmps].compactMap(\.self))
            }
            guard .now() < deadline else { throw NotListening() }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// The address under which this gateway reaches itself.
    private var loopback: String {
        switch configuration.host {
        case "0.0.0.0", "::", "localhost": "127.0.0.1"
        default: configuration.host
        }
    }

    /// Seconds in which the listeners are open, or will not be.
    private static let patience = 10.0

    private struct NotListening: Error {}
}
