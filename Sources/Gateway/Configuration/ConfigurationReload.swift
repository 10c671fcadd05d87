import Logging
import MixerProcess
import ServiceLifecycle
import UnixSignals

/// Reads the configuration again at SIGHUP, and applies what can change while the gateway runs.
///
/// A configuration that cannot be read or has an invalid value changes nothing. The log says which settings were taken
/// over, and which need a restart.
struct ConfigurationReload: Service {
    /// Reads the configuration.
    let load: @Sendable () async throws -> GatewayConfiguration
    /// The configuration with which the gateway was started.
    let initial: GatewayConfiguration
    let logger: Logger
    /// Applies the reloadable settings of a configuration; throws before it has changed anything.
    let apply: @Sendable (GatewayConfiguration) async throws -> Void

    func run() async throws {
        var current = initial
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            do {
                let new = try await load()
                try new.requireKnownKeys()
                try await apply(new)
                report(ConfigurationChange(from: current, runningWith: initial, to: new))
                current = new
            } catch {
                logger.error("configuration not reloaded; nothing changed", metadata: ["reason": "\(error)"])
            }
        }
    }

    private func report(_ change: ConfigurationChange) {
        logger.log(
            level: change.needsRestart.isEmpty ? .notice : .warning,
            "configuration reloaded",
            metadata: [
                "changed": "\(change.taken.isEmpty ? "nothing" : change.taken.joined(separator: ", "))",
                "needs_restart":
                    "\(change.needsRestart.isEmpty ? "nothing" : change.needsRestart.joined(separator: ", "))",
            ]
        )
    }
}

/// What a reload of the configuration does.
struct ConfigurationChange: Equatable {
    /// The keys of the settings that were taken over.
    let taken: [String]
    /// The keys of the settings whose values differ from those in use until a restart.
    let needsRestart: [String]

    /// - Parameters:
    ///   - last: The configuration of the last reload, or of the start.
    ///   - initial: The configuration of the start, whose other settings are in use.
    init(from last: GatewayConfiguration, runningWith initial: GatewayConfiguration, to new: GatewayConfiguration) {
        taken = Setting.all.filter { $0.isReloadable && !$0.isEqual(last, new) }.map(\.key)
        needsRestart = Setting.all.filter { !$0.isReloadable && !$0.isEqual(initial, new) }.map(\.key)
    }
}
