public import Configuration
import Foundation
import SystemPackage

extension GatewayConfiguration {
    /// Reads the effective configuration.
    ///
    /// - Parameters:
    ///   - commandLine: Values given as options, by key; they win over everything else.
    ///   - file: A YAML or JSON file, told apart by its ending.
    /// - Throws: `ConfigurationError` for a value that makes no sense and for a file that cannot be read.
    public init(commandLine: [String: String], file: String?) async throws {
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for (key, value) in commandLine {
            values[AbsoluteConfigKey(key.split(separator: ".").map(String.init))] = ConfigValue(
                .string(value),
                isSecret: false
            )
        }
        var providers: [any ConfigProvider] = [
            InMemoryProvider(name: "command line", values: values),
            EnvironmentVariablesProvider().prefixKeys(with: "footlight"),
        ]
        if let file {
            do {
                providers.append(try await Self.provider(file))
            } catch {
                throw ConfigurationError(key: file, problem: "cannot be read: " + Self.reason(error))
            }
        }
        try self.init(ConfigReader(providers: providers))
    }

    private static func provider(_ file: String) async throws -> any ConfigProvider {
        let path = FilePath(file)
        if file.hasSuffix(".json") { return try await FileProvider<JSONSnapshot>(filePath: path) }
        return try await FileProvider<YAMLSnapshot>(filePath: path)
    }

    /// What a parser says of a file, without the numbers it files its errors under.
    private static func reason(_ error: any Error) -> String {
        let details = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String
        return details ?? String(describing: error)
    }

    /// Reads every value, keeping the default where there is none.
    public init(_ reader: ConfigReader) throws {
        self.init()
        let read = SettingReader(reader)
        dataDirectory = try read.string("data.dir") ?? dataDirectory
        host = try read.string("host") ?? host
        rtmpPort = try read.int("rtmp.port", in: 0...65_535) ?? rtmpPort
        httpPort = try read.int("http.port", in: 0...65_535) ?? httpPort
        adminPort = try read.int("admin.port", in: 0...65_535) ?? adminPort
        rtmpsPort = try read.int("rtmps.port", in: 0...65_535)
        tlsCertificate = try read.string("tls.certificate")
        tlsKey = try read.string("tls.key")
        fanOutTick = try read.int("fanout.tick", in: 0...1_000) ?? fanOutTick
        maximumViewers = try read.int("fanout.viewers", in: 1...1_000_000) ?? maximumViewers
        allowsPrivateOutputs = try read.bool("outputs.allow_private")
        roomIdle = try read.int("room.idle", in: 0...86_400) ?? roomIdle
        threads = try read.int("threads", in: 0...256) ?? threads
        logLevel = try read.string("log.level", among: Self.logLevels) ?? logLevel
        guard (rtmpsPort == nil) || (tlsCertificate != nil && tlsKey != nil) else {
            throw ConfigurationError(key: "rtmps.port", problem: "needs tls.certificate and tls.key")
        }
    }
}

/// A setting that cannot be used.
public struct ConfigurationError: Error, CustomStringConvertible, Equatable {
    /// The setting, as in the configuration file.
    public let key: String
    /// What is wrong with its value.
    public let problem: String

    /// Both in one line.
    public var description: String { "configuration: \(key) \(problem)" }
}

/// Reads settings and refuses what is there but makes no sense, where the plain reader would fall back to a default.
private struct SettingReader {
    private let reader: ConfigReader

    init(_ reader: ConfigReader) {
        self.reader = reader
    }

    func string(_ key: String) throws -> String? {
        guard let text = reader.string(forKey: configKey(key)) else { return nil }
        guard !text.isEmpty else { throw ConfigurationError(key: key, problem: "is empty") }
        return text
    }

    func string(_ key: String, among words: [String]) throws -> String? {
        guard let text = try string(key) else { return nil }
        guard words.contains(text) else {
            throw ConfigurationError(
                key: key,
                problem: "is \"\(text)\"; one of \(words.joined(separator: ", ")) is needed"
            )
        }
        return text
    }

    func int(_ key: String, in range: ClosedRange<Int>) throws -> Int? {
        // A file gives numbers, the command line and the environment give text.
        let text = reader.string(forKey: configKey(key))
        guard let number = reader.int(forKey: configKey(key)) ?? text.flatMap({ Int($0) }) else {
            try refuse(text, key, wanted: "a whole number")
            return nil
        }
        guard range.contains(number) else {
            throw ConfigurationError(
                key: key,
                problem: "is \(number); \(range.lowerBound) to \(range.upperBound) is allowed"
            )
        }
        return number
    }

    func bool(_ key: String) throws -> Bool? {
        if let value = reader.bool(forKey: configKey(key)) { return value }
        let text = reader.string(forKey: configKey(key))
        if let value = text.flatMap({ Bool($0.lowercased()) }) { return value }
        try refuse(text, key, wanted: "true or false")
        return nil
    }

    private func refuse(_ text: String?, _ key: String, wanted: String) throws {
        guard let text else { return }
        throw ConfigurationError(key: key, problem: "is \"\(text)\"; \(wanted) is needed")
    }

    private func configKey(_ key: String) -> ConfigKey {
        ConfigKey(key.split(separator: ".").map(String.init))
    }
}
