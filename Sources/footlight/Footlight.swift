import ArgumentParser
import Dispatch
import Foundation
import Gateway
import MixerProcess

/// The entry point; confines a mixer process before it starts any thread.
@main
enum EntryPoint {
    static func main() {
        if CommandLine.arguments.dropFirst().first == MixerArguments.command {
            let environment = ProcessInfo.processInfo.environment
            if environment[JSONLogHandler.variable] == JSONLogHandler.format { JSONLogHandler.bootstrap() }
            MixerConfinement.begin()
        }
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
        version: Version.text,
        subcommands: [
            Serve.self, Demo.self, Join.self, Login.self, Token.self, CheckConfig.self, DoctorCommand.self,
            BackupCommand.self,
            RestoreCommand.self, RotateKey.self, Mixer.self,
        ]
    )
}

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Run the gateway.")

    @OptionGroup var options: GatewayOptions

    func run() async throws {
        CrashTrace.prepare()
        let configuration = try await options.load()
        GatewayService.useLog(of: configuration)
        try await GatewayService(configuration).runUntilSignalled { try await options.load() }
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
        abstract: "Print the effective settings, secrets left out, and verify the certificate if one is in use."
    )

    @Option(help: "The name by which clients reach the gateway, which the certificate must have.")
    var name: String?

    @Flag(help: "Print the table of all settings, as the documents have it, instead.")
    var reference = false

    @Flag(help: "Print a configuration file with the settings in effect, each with a comment, instead.")
    var template = false

    @OptionGroup var options: GatewayOptions

    func run() async throws {
        guard !reference else { return print(GatewayConfiguration.reference, terminator: "") }
        let configuration = try await options.load()
        guard !template else { return print(configuration.template, terminator: "") }
        try configuration.requireKnownKeys()
        for line in configuration.lines { print(line) }
        let findings = await Doctor(configuration, name: name).certificateFindings().filter { $0.level != .ok }
        for finding in findings { FileHandle.standardError.write(Data("\(finding)\n".utf8)) }
        if findings.contains(where: { $0.level == .problem }) { throw ExitCode.failure }
    }
}

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check what this machine, these settings and this data folder lack for a show.",
        discussion: "Changes nothing. The exit status is 1 if there is a problem; warnings do not count."
    )

    @Option(help: "The name by which clients reach the gateway, which the certificate must have.")
    var name: String?

    @Option(help: "The address of an RTMP server that must be reachable, such as rtmps://live.example/app; repeatable.")
    var output: [String] = []

    @OptionGroup var options: GatewayOptions

    func run() async throws {
        let findings = await Doctor(try await options.load(), name: name, outputs: output).run()
        for finding in findings { print(finding) }
        if findings.contains(where: { $0.level == .problem }) { throw ExitCode.failure }
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
