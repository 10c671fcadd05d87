/// An optional that is encoded as `null` when absent, where omission would be ambiguous.
///
/// A missing field is decoded as `null`.
@propertyWrapper
public struct ExplicitNull<Value: Codable & Sendable & Hashable>: Codable, Sendable, Hashable {
    /// The value, or nil.
    public var wrappedValue: Value?

    /// Wraps a value.
    public init(wrappedValue: Value?) {
        self.wrappedValue = wrappedValue
    }

    /// Reads a value or `null`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
    }

    /// Writes the value or `null`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue {
            try container.encode(wrappedValue)
        } else {
            try container.encodeNil()
        }
    }
}

extension ExplicitNull: CustomStringConvertible {
    /// The value, or `nil`.
    public var description: String { wrappedValue.map { "\($0)" } ?? "nil" }
}

extension ExplicitNull: CustomDebugStringConvertible {
    /// The value, or `nil`.
    public var debugDescription: String { wrappedValue.map { String(reflecting: $0) } ?? "nil" }
}

extension KeyedDecodingContainer {
    // Preferred over the general `decode` by synthesized code; makes a missing field nil.
    func decode<Value>(_ type: ExplicitNull<Value>.Type, forKey key: Key) throws -> ExplicitNull<Value> {
        try decodeIfPresent(type, forKey: key) ?? ExplicitNull(wrappedValue: nil)
    }

    // For an optional wrapper, `null` and a missing field differ.
    func decodeIfPresent<Value>(
        _ type: ExplicitNull<Value>.Type,
        forKey key: Key
    ) throws -> ExplicitNull<Value>? {
        guard contains(key) else { return nil }
        return try ExplicitNull(wrappedValue: decodeIfPresent(Value.self, forKey: key))
    }
}
