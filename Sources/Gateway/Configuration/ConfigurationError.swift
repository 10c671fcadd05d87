/// A setting that cannot be used.
public struct ConfigurationError: Error, CustomStringConvertible, Equatable {
    /// The setting, as in the configuration file.
    public let key: String
    /// What is wrong with its value.
    public let problem: String

    /// Both in one line.
    public var description: String { "configuration: \(key) \(problem)" }
}
