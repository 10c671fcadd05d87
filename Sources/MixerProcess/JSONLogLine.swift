package import Logging

/// A log message as `JSONLogHandler` writes it.
package struct JSONLogLine: Codable, Sendable {
    /// The time in UTC, ISO 8601.
    package let time: String
    /// The name of the level.
    package let level: String
    /// The label of the logger.
    package let logger: String
    /// The text.
    package let message: String
    private let values: [String: Value]?

    private enum CodingKeys: String, CodingKey {
        case time
        case level
        case logger
        case message
        case values = "metadata"
    }

    init(time: String, level: Logger.Level, logger: String, message: String, metadata: Logger.Metadata) {
        self.time = time
        self.level = level.rawValue
        self.logger = logger
        self.message = message
        values = metadata.isEmpty ? nil : metadata.mapValues(Value.init)
    }

    /// The metadata.
    package var metadata: Logger.Metadata { values?.mapValues(\.metadata) ?? [:] }

    private enum Value: Codable {
        case text(String)
        case list([Value])
        case dictionary([String: Value])

        init(_ value: Logger.MetadataValue) {
            self =
                switch value {
                case .string(let text): .text(text)
                case .stringConvertible(let other): .text(other.description)
                case .array(let values): .list(values.map(Value.init))
                case .dictionary(let values): .dictionary(values.mapValues(Value.init))
                }
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .text(text)
            } else if let values = try? container.decode([Value].self) {
                self = .list(values)
            } else {
                self = .dictionary(try container.decode([String: Value].self))
            }
        }

        var metadata: Logger.MetadataValue {
            switch self {
            case .text(let text): .string(text)
            case .list(let values): .array(values.map(\.metadata))
            case .dictionary(let values): .dictionary(values.mapValues(\.metadata))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .list(let values): try container.encode(values)
            case .dictionary(let values): try container.encode(values)
            }
        }
    }
}
