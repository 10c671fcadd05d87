import ArgumentParser
import Gateway

struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the gateway with one room and two synthetic hosts on air, and print where to watch.",
        discussion: "Leaves nothing behind, unless a data folder is named."
    )

    @OptionGroup var options: GatewayOptions

    func run() async throws {
        let folder = DemoFolder()
        let configuration = try await options.load(unlessGiven: ["data.dir": folder.path])
        try await DemoShow(configuration, folder: folder).run()
    }
}
