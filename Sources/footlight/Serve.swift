import ArgumentParser
import Gateway

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Run the gateway.")

    @OptionGroup var options: GatewayOptions

    func run() async throws {
        CrashTrace.prepare()
        try await GatewayService(try await options.load()).runUntilSignalled()
    }
}
