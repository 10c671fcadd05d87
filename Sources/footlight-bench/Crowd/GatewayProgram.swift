import ArgumentParser
import FootlightTesting

/// Which gateway is measured; an option of every command that starts one.
struct GatewayProgram: ParsableArguments {
    @Option(help: "The footlight program; the one beside this program when left out.")
    var binary: String?

    /// Starts it with a data folder of its own; its log holds what went wrong and nothing else.
    ///
    /// - Parameter settings: Its settings by their variables, `FOOTLIGHT_FANOUT_TICK` and the like.
    /// - Throws: `ToolFailure` with its log when it does not come up.
    func start(_ settings: [String: String] = [:]) async throws -> GatewayProcess {
        let log = ["FOOTLIGHT_LOG_LEVEL": "warning"]
        return try await GatewayProcess(environment: log.merging(settings) { $1 }, binary: binary)
    }
}
