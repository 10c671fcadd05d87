import ArgumentParser
import Gateway

/// The settings that can be given on the command line; what is not given comes from the environment, the file, or the
/// defaults.
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

    /// The effective configuration.
    ///
    /// - Parameter defaults: What a command wants where nothing is given, by key.
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
