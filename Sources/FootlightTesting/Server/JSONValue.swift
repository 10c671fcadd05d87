import Foundation

/// A JSON value to be looked into by a test.
///
/// Not the API's own `AnyJSON`, for a test does not read what it judges by the code that wrote it.
public enum JSONValue: Sendable, Equatable, Codable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// Reads JSON text.
    public init(parsing text: String) throws {
        self = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    }

    /// Reads whatever value comes.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    /// Writes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    /// The member of an object; `null` where there is none.
    public subscript(name: String) -> JSONValue {
        if case .object(let members) = self { members[name] ?? .null } else { .null }
    }

    /// The element of an array; `null` where there is none.
    public subscript(index: Int) -> JSONValue {
        if case .array(let elements) = self, elements.indices.contains(index) { elements[index] } else { .null }
    }

    /// The text, or nil for another kind of value.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The number when it is whole, or nil.
    public var int: Int? {
        if case .number(let value) = self { Int(exactly: value) } else { nil }
    }

    /// The number, or nil for another kind of value.
    public var double: Double? {
        if case .number(let value) = self { value } else { nil }
    }

    /// The truth value, or nil for another kind of value.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The elements of an array; none for another kind of value.
    public var elements: [JSONValue] {
        if case .array(let elements) = self { elements } else { [] }
    }

    /// The text as JSON, members in alphabetical order.
    public var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A text written in code.
    public init(stringLiteral value: String) { self = .string(value) }

    /// A whole number written in code.
    public init(integerLiteral value: Int) { self = .number(Double(value)) }

    /// A number written in code.
    public init(floatLiteral value: Double) { self = .number(value) }

    /// A truth value written in code.
    public init(booleanLiteral value: Bool) { self = .bool(value) }

    /// An array written in code.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// An object written in code; of two members of one name the last counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}
