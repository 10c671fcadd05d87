public import Configuration
import FanOut
import Foundation
import Stage
import SystemPackage

extension GatewayConfiguration {
    /// Reads the effective configuration.
    ///
    /// - Parameters:
    ///   - commandLine: Values given as options, by key; they win over everything else.
    ///   - file: A YAML or JSON file, told apart by its ending.
    ///   - defaults: Values by key that hold where none is given, in place of the usual defaults.
    /// - Throws: `ConfigurationError` for a value that makes no sense and for a file that cannot be read.
    public init(
        commandLine: [String: String],
        file: String?,
        unlessGiven defaults: [String: String] = [:]
    ) async throws {
        var providers: [any ConfigProvider] = [
            Self.provider("command line", commandLine),
            EnvironmentVariablesProvider().prefixKeys(with: "footlight"),
        ]
        let unknown = UnknownKeys(known: Set(Setting.all.map(\.key)))
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

    /// Provides values that are there already, by key.
    private static func provider(_ name: String, _ values: [String: String]) -> InMemoryProvider {
        var known: [AbsoluteConfigKey: ConfigValue] = [:]
        for (key, value) in values {
            let path = AbsoluteConfigKey(key.split(separator: ".").map(String.init))
            known[path] = ConfigValue(.string(value), isSecret: false)
        }
        return InMemoryProvider(name: name, values: known)
    }

    /// Opens a file; its parser asks of each key whether the value is secret, and so tells which keys there are.
    private static func provider(_ file: String, _ unknown: UnknownKeys) async throws -> any ConfigProvider {
        let path = FilePath(file)
        if file.hasSuffix(".json") {
            let options = JSONSnapshot.ParsingOptions(secretsSpecifier: .dynamic { key, _ in unknown.see(key) })
            return try await FileProvider<JSONSnapshot>(parsingOptions: options, filePath: path)
        }
        let options = YAMLSnapshot.ParsingOptions(secretsSpecifier: .dynamic { key, _ in unknown.see(key) })
        return try await FileProvider<YAMLSnapshot>(parsingOptions: options, filePath: path)
    }

    /// Refuses a configuration whose file says something that no setting is for.
    ///
    /// - Throws: `ConfigurationError` for the first such key.
    public func requireKnownKeys() throws {
        guard let key = unknownKeys.first else { return }
        let others = unknownKeys.dropFirst()
        let more = others.isEmpty ? "" : "; nor are " + others.joined(separator: ", ")
        throw ConfigurationError(key: key, problem: "is not a setting" + more)
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
        for setting in Setting.all { try setting.read(read, &self) }
        guard TrustedProxies(trustedProxies) != nil else {
            throw ConfigurationError(
                key: "viewership.proxies",
                problem: "holds what is no address; 10.0.0.0/8 or 127.0.0.1 is needed"
            )
        }
        guard TrustedProxies(trustedProxies, regionHeader: regionHeader) != nil else {
            throw ConfigurationError(key: "viewership.region_header", problem: "is not the name of a field")
        }
        for origin in allowedOrigins where !Self.isOrigin(origin) {
            throw ConfigurationError(
                key: "cors.origins",
                problem: "holds \"\(origin)\"; an origin such as https://app.example is needed"
            )
        }
        guard (rtmpsPort == nil) || (tlsCertificate != nil && tlsKey != nil) else {
            throw ConfigurationError(key: "rtmps.port", problem: "needs tls.certificate and tls.key")
        }
    }

    /// Scheme, host and perhaps a port, and nothing behind them.
    private static func isOrigin(_ text: String) -> Bool {
        guard let url = URLComponents(string: text), let scheme = url.scheme, url.host?.isEmpty == false else {
            return false
        }
        return ["http", "https"].contains(scheme) && url.path.isEmpty && url.query == nil && url.fragment == nil
            && url.user == nil
    }
}
