import ArgumentParser
import Gateway

struct CheckConfig: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config",
        abstract: "Print the effective settings, secrets left out."
    )

    @OptionGroup var options: GatewayOptions

    func run() async throws {
        for line in try await options.load().lines { print(line) }
    }
}
