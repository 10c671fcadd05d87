import ArgumentParser
import Gateway

struct CheckConfig: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config",
        abstract: "Print the effective settings, secrets left out."
    )

    @Flag(help: "Print the table of all settings, as the documents have it, instead.")
    var reference = false

    @OptionGroup var options: GatewayOptions

    func run() async throws {
        guard !reference else { return print(GatewayConfiguration.reference, terminator: "") }
        let configuration = try await options.load()
        try configuration.requireKnownKeys()
        for line in configuration.lines { print(line) }
    }
}
