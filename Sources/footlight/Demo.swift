import ArgumentParser
import Gateway

struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the gateway with one room and two synthetic hosts on air, and print where to watch.",
        discussion: "Leaves nothing behind, unless a data folder is named."
    )

    @OptionGroup var options: GatewayOptions

    func run() async throws {
        CrashTrace.prepare()
        let folder = DemoFolder()
        // On a workstation, where the other end of an output or webhook is likely to be the same machine.
        let local = ["outputs.allow_private", "assets.allow_private", "webhooks.allow_private", "webhooks.allow_http"]
        var defaults = Dictionary(uniqueKeysWithValues: local.map { ($0, "true") })
        defaults["data.dir"] = folder.path
        let configuration = try await options.load(unlessGiven: defaults)
        try await DemoShow(configuration, folder: folder).run()
    }
}
