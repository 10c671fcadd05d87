/// An optional that is written as `null` when it is absent, where leaving it out would be ambiguous to a reader.
///
/// Read, a missing field is as good as `null`.
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

extension KeyedDecodingContainer {
    // Chosen over the general `decode` by synthesised code, for this is what makes a missing field nil.
    func decode<Value>(_ type: ExplicitNull<Value>.Type, forKey key: Key) throws -> ExplicitNull<Value> {
        try decodeIfPresent(type, forKey: key) ?? ExplicitNull(wrappedValue: nil)
    }

    // Where the wrapper itself is optional, `null` and a missing field are two things.
    func decodeIfPresent<Value>(
        _ type: ExplicitNull<Value>.Type,
        forKey key: Key
    ) throws -> ExplicitNull<Value>? {
        guard contains(key) else { return nil }
        return try ExplicitNull(wrappedValue: decodeIfPresent(Value.self, forKey: key))
    }
}
