/// A revision as clients hold it: a number, or the text of an event's `id` line.
public struct EventID: Codable, Sendable, Hashable {
    /// The revision.
    public var revision: UInt64

    /// Wraps a revision.
    public init(_ revision: UInt64) {
        self.revision = revision
    }

    /// Reads a whole number, or text that is one.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self), let revision = UInt64(text) {
            self.revision = revision
        } else {
            revision = try container.decode(UInt64.self)
        }
    }

    /// Writes a number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(revision)
    }
}
