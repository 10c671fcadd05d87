/// A value of an enumeration as the JSON has it: one that this version knows, or the text of one that it does not.
///
/// The rule for every enumeration of the API: an unknown value is decoded and encoded unchanged and never replaced by a
/// default, so that a client survives a newer gateway. A gateway that reads an unknown value in a request refuses it
/// where it converts the request to the domain's types, with an error that names the field.
public enum WireEnum<Value: RawRepresentable<String> & Hashable & Sendable>: RawRepresentable, Codable, Sendable,
    Hashable, CustomStringConvertible
{
    /// A value that this version knows.
    case known(Value)
    /// The text of any other value.
    case unknown(String)

    /// Creates a value from its text.
    public init(rawValue: String) {
        self = Value(rawValue: rawValue).map { .known($0) } ?? .unknown(rawValue)
    }

    /// The text.
    public var rawValue: String {
        switch self {
        case .known(let value): value.rawValue
        case .unknown(let text): text
        }
    }

    /// The text.
    public var description: String { rawValue }

    /// The value; nil for one that this version does not know.
    public var value: Value? {
        switch self {
        case .known(let value): value
        case .unknown: nil
        }
    }
}

extension WireEnum {
    /// Returns whether the left value is known and equal to the right one.
    public static func == (left: Self, right: Value) -> Bool {
        left.value == right
    }

    /// Returns whether the left value is unknown or differs from the right one.
    public static func != (left: Self, right: Value) -> Bool {
        left.value != right
    }
}

extension Optional {
    /// Returns whether the left value is known and equal to the right one.
    public static func == <Value>(left: Self, right: Value) -> Bool where Wrapped == WireEnum<Value> {
        left?.value == right
    }

    /// Returns whether the left value is absent, unknown or differs from the right one.
    public static func != <Value>(left: Self, right: Value) -> Bool where Wrapped == WireEnum<Value> {
        left?.value != right
    }
}

// Dictionaries by such values are JSON objects.
extension WireEnum: CodingKeyRepresentable {
    /// The text as a key.
    public var codingKey: any CodingKey { rawValue.codingKey }

    /// Creates a value from a key.
    public init(codingKey: some CodingKey) {
        self.init(rawValue: codingKey.stringValue)
    }
}
