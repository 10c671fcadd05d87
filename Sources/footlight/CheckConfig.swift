import ArgumentParser
import Gateway

struct CheckConfig: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config",
        abstract: "Print the effective settings, secrets left out."
    )

    @OptionGroup var options: GatewayOptions

    func run() async throws {
        let configuration = try await options.load()
        try configuration.requireKnownKeys()
        for line in configuration.lines { print(line) }
    }
}
