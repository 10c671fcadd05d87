import ArgumentParser
import Gateway

struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the gateway with one room and two synthetic hosts on air, and print where to watch."
    )

    @OptionGroup var options: GatewayOptions

    func run() async throws {
        try await DemoShow(try await options.load()).run()
    }
}
