import ArgumentParser
import Dispatch
import Foundation
import Gateway
import MixerProcess

/// The entry point; confines a mixer process before it starts any thread.
@main
enum EntryPoint {
    static func main() {
        if CommandLine.arguments.dropFirst().first == MixerArguments.command { MixerConfinement.begin() }
        Task {
            await Footlight.main()
            exit(0)
        }
        dispatchMain()
    }
}

/// The root command.
struct Footlight: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "footlight",
        abstract: "A live-stream broadcast gateway: hosts in, one mixed program out, an audience counted exactly.",
        subcommands: [Serve.self, Demo.self, Join.self, Token.self, CheckConfig.self, RotateKey.self, Mixer.self]
    )
}

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Run the gateway.")

    @OptionGroup var options: GatewayOptions

    func run() async throws {
        CrashTrace.prepare()
        try await GatewayService(try await options.load()).runUntilSignalled()
    }
}

struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the gateway with one room and two synthetic hosts on air, and print where to watch.",
        discussion: "Leaves nothing behind, unless a data folder is named."
    )

    @OptionGroup var options: GatewayOptions

    func run() async throws {
        CrashTrace.prepare()
        let folder = DemoFolder()
        // On a workstation, outputs and webhooks are likely to be at a local address.
        let local = ["outputs.allow_private", "assets.allow_private", "webhooks.allow_private", "webhooks.allow_http"]
        var defaults = Dictionary(uniqueKeysWithValues: local.map { ($0, "true") })
        defaults["data.dir"] = folder.path
        let configuration = try await options.load(unlessGiven: defaults)
        try await DemoShow(configuration, folder: folder).run()
    }
}

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

/// The settings of the command line; missing ones come from the environment, the configuration file, or the defaults.
struct GatewayOptions: ParsableArguments {
    @Option(help: "A YAML or JSON file with settings.")
    var config: String?

    @Option(help: "The folder for keys, tokens and what must survive a restart.")
    var dataDir: String?

    @Option(help: "The address to listen on.")
    var host: String?

    @Option(help: "The port for hosts and RTMP viewers; 0 picks a free one.")
    var rtmpPort: Int?

    @Option(help: "The port for the API, HTTP-FLV and HLS; 0 picks a free one.")
    var httpPort: Int?

    @Option(help: "The loopback port for metrics and health; 0 picks a free one.")
    var adminPort: Int?

    /// Loads the effective configuration.
    ///
    /// - Parameter defaults: The command's own defaults by key.
    func load(unlessGiven defaults: [String: String] = [:]) async throws -> GatewayConfiguration {
        var given: [String: String] = [:]
        given["data.dir"] = dataDir
        given["host"] = host
        given["rtmp.port"] = rtmpPort.map(String.init)
        given["http.port"] = httpPort.map(String.init)
        given["admin.port"] = adminPort.map(String.init)
        return try await GatewayConfiguration(commandLine: given, file: config, unlessGiven: defaults)
    }
}
