import ArgumentParser
import Foundation
import Gateway

struct Login: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a code that logs an operator in to the dashboard of the running gateway.",
        discussion: "A code is good for ten minutes, and once."
    )

    @OptionGroup var options: GatewayOptions

    func run() async throws {
        let configuration = try await options.load()
        let directory = try DataDirectory(configuration.dataDirectory)
        guard let endpoints = Endpoints(of: directory) else {
            throw ValidationError("no gateway runs on \(configuration.dataDirectory)")
        }
        let address = configuration.publicURL ?? "http://\(configuration.dashboardHost):\(endpoints.httpPort)"
        print("Open \(address)/dashboard and enter the code \(try LoginCode.make(in: directory))")
        print("It is good for ten minutes, and once.")
    }
}
