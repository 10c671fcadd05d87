public import Configuration
import FanOut
import Foundation
import Stage
import Synchronization
import SystemPackage

/// Reads settings, and throws for invalid values, where `ConfigReader` would fall back to a default.
struct SettingReader {
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
        // Files provide numbers; the command line and the environment provide text.
        let text = reader.string(forKey: configKey(key))
        guard let number = reader.int(forKey: configKey(key)) ?? text.flatMap({ Int($0) }) else {
            try refuse(text, key, expected: "a whole number")
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
        try refuse(text, key, expected: "true or false")
        return nil
    }

    /// Returns the words of a list or of comma-separated text.
    func strings(_ key: String) throws -> [String]? {
        let text = reader.string(forKey: configKey(key))
        let list = reader.stringArray(forKey: configKey(key)) ?? text?.split(separator: ",").map(String.init)
        return list?.map { $0.filter { !$0.isWhitespace } }.filter { !$0.isEmpty }
    }

    /// Returns the integers of a list or of comma-separated text.
    func ints(_ key: String, in range: ClosedRange<Int>) throws -> [Int]? {
        let list = reader.intArray(forKey: configKey(key))
        guard let list = try list ?? strings(key)?.map({ try number($0, key) }) else { return nil }
        for number in list where !range.contains(number) {
            throw ConfigurationError(
                key: key,
                problem: "holds \(number); \(range.lowerBound) to \(range.upperBound) is allowed"
            )
        }
        return list
    }

    private func number(_ text: String, _ key: String) throws -> Int {
        guard let number = Int(text) else {
            throw ConfigurationError(key: key, problem: "holds \"\(text)\"; whole numbers are needed")
        }
        return number
    }

    private func refuse(_ text: String?, _ key: String, expected: String) throws {
        guard let text else { return }
        throw ConfigurationError(key: key, problem: "is \"\(text)\"; \(expected) is needed")
    }

    private func configKey(_ key: String) -> ConfigKey {
        ConfigKey(key.split(separator: ".").map(String.init))
    }
}

/// Collects the keys of a file that no setting uses.
final class UnknownKeyCollector: Sendable {
    private let known: Set<String>
    private let unknown = Mutex<Set<String>>([])

    init(known: Set<String>) {
        self.known = known
    }

    /// The unknown keys, sorted.
    var all: [String] { unknown.withLock { $0.sorted() } }

    /// Records a key; always returns false, because no setting's value is secret by itself.
    func record(_ key: String) -> Bool {
        if !known.contains(key) { _ = unknown.withLock { $0.insert(key) } }
        return false
    }
}

/// A setting with an invalid value.
public struct ConfigurationError: Error, CustomStringConvertible, Equatable {
    /// The setting's key, as in the configuration file.
    public let key: String
    /// What is wrong with its value.
    public let problem: String

    /// The key and the problem in one line.
    public var description: String { "configuration: \(key) \(problem)" }
}

extension GatewayConfiguration {
    /// Reads the effective configuration.
    ///
    /// - Parameters:
    ///   - commandLine: Option values by key; they take precedence over all other sources.
    ///   - file: The path of a YAML or JSON file; the extension `.json` selects JSON.
    ///   - defaults: Values by key that replace the built-in defaults.
    /// - Throws: `ConfigurationError` for an invalid value or an unreadable file.
    public init(
        commandLine: [String: String],
        file: String?,
        unlessGiven defaults: [String: String] = [:]
    ) async throws {
        var providers: [any ConfigProvider] = [
            Self.provider("command line", commandLine),
            EnvironmentVariablesProvider().prefixKeys(with: "footlight"),
        ]
        let unknown = UnknownKeyCollector(known: Set(Setting.all.map(\.key)))
        if let file {
            do {
                providers.append(try await Self.provider(file, unknown))
            } catch {
                throw ConfigurationError(key: file, problem: "cannot be read: " + Self.reason(error))
            }
        }
        providers.append(Self.provider("command", defaults))
        try self.init(ConfigReader(providers: providers))
        unknownKeys = unknown.all
    }

    /// Makes a provider of fixed values by key.
    private static func provider(_ name: String, _ values: [String: String]) -> InMemoryProvider {
        var known: [AbsoluteConfigKey: ConfigValue] = [:]
        for (key, value) in values {
            let path = AbsoluteConfigKey(key.split(separator: ".").map(String.init))
            known[path] = ConfigValue(.string(value), isSecret: false)
        }
        return InMemoryProvider(name: name, values: known)
    }

    /// Opens a file, and collects its unknown keys through the parser's callback for secret values.
    private static func provider(_ file: String, _ unknown: UnknownKeyCollector) async throws -> any ConfigProvider {
        let path = FilePath(file)
        if file.hasSuffix(".json") {
            let options = JSONSnapshot.ParsingOptions(secretsSpecifier: .dynamic { key, _ in unknown.record(key) })
            return try await FileProvider<JSONSnapshot>(parsingOptions: options, filePath: path)
        }
        let options = YAMLSnapshot.ParsingOptions(secretsSpecifier: .dynamic { key, _ in unknown.record(key) })
        return try await FileProvider<YAMLSnapshot>(parsingOptions: options, filePath: path)
    }

    /// Throws if the configuration file has a key that no setting uses.
    ///
    /// - Throws: `ConfigurationError` for the first unknown key.
    public func requireKnownKeys() throws {
        guard let key = unknownKeys.first else { return }
        let others = unknownKeys.dropFirst()
        let more = others.isEmpty ? "" : "; nor are " + others.joined(separator: ", ")
        throw ConfigurationError(key: key, problem: "is not a setting" + more)
    }

    /// Returns the parser's description of an error without its domain and code.
    private static func reason(_ error: any Error) -> String {
        let details = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String
        return details ?? String(describing: error)
    }

    /// Reads every value; a setting without a value keeps its default.
    public init(_ reader: ConfigReader) throws {
        self.init()
        let read = SettingReader(reader)
        for setting in Setting.all { try setting.read(read, &self) }
        guard TrustedProxies(trustedProxies) != nil else {
            throw ConfigurationError(
                key: "viewership.proxies",
                problem: "has an invalid address; use an address or network such as 127.0.0.1 or 10.0.0.0/8"
            )
        }
        guard TrustedProxies(trustedProxies, regionHeader: regionHeader) != nil else {
            throw ConfigurationError(key: "viewership.region_header", problem: "is not a valid header field name")
        }
        for origin in allowedOrigins where !Self.isOrigin(origin) {
            throw ConfigurationError(
                key: "cors.origins",
                problem: "holds \"\(origin)\"; an origin such as https://app.example is needed"
            )
        }
        if let url = publicURL {
            guard Self.isOrigin(url) || Self.isOrigin(String(url.dropLast())) && url.hasSuffix("/") else {
                throw ConfigurationError(
                    key: "public_url",
                    problem: "must be a scheme and a host, such as https://live.example"
                )
            }
            if url.hasSuffix("/") { publicURL = String(url.dropLast()) }
        }
        for (key, port) in [("rtmps.port", rtmpsPort), ("https.port", httpsPort)] where port != nil {
            guard tlsCertificate != nil, tlsKey != nil else {
                throw ConfigurationError(key: key, problem: "needs tls.certificate and tls.key")
            }
        }
        try checkCluster()
        guard httpsPort != nil || !redirectsToHTTPS else {
            throw ConfigurationError(key: "https.redirect", problem: "needs https.port")
        }
    }

    private func checkCluster() throws(ConfigurationError) {
        for (key, value) in [
            ("cluster.node", clusterNode), ("cluster.address", clusterAddress), ("cluster.key", clusterKey),
        ] where (value == nil) != (clusterDSN == nil) {
            throw ConfigurationError(
                key: key,
                problem: value == nil ? "is needed, because cluster.dsn is set" : "needs cluster.dsn"
            )
        }
        if let clusterNode, NameRule.checkFile(clusterNode) != nil {
            throw ConfigurationError(key: "cluster.node", problem: "may have letters, digits, dots, _ and - only")
        }
        if let clusterAddress, !Self.isOrigin(clusterAddress) {
            throw ConfigurationError(
                key: "cluster.address",
                problem: "must be a scheme and a host, such as http://10.0.0.5:8080"
            )
        }
    }

    /// Returns whether the text is a scheme and a host, optionally with a port, and nothing else.
    private static func isOrigin(_ text: String) -> Bool {
        guard let url = URLComponents(string: text), let scheme = url.scheme, url.host?.isEmpty == false else {
            return false
        }
        return ["http", "https"].contains(scheme) && url.path.isEmpty && url.query == nil && url.fragment == nil
            && url.user == nil
    }
}
