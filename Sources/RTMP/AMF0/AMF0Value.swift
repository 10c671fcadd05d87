/// An AMF0 value (Action Message Format 0, Adobe, December 2007), limited to the types that RTMP peers use.
enum AMF0Value: Sendable, Equatable {
    case number(Double)
    case boolean(Bool)
    /// A string of any length; long strings and XML documents also decode to this case.
    case string(String)
    /// An anonymous or typed object.
    case object(AMF0Object)
    case null
    case undefined
    /// An associative array; many peers send one in place of an object.
    case array(AMF0Object)
    case list([AMF0Value])
    /// Milliseconds since 1970; the reserved time zone field is discarded.
    case date(Double)

    /// The number, or nil for any other type.
    var number: Double? {
        if case .number(let value) = self { value } else { nil }
    }

    /// The Boolean, or nil for any other type.
    var boolean: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    /// The string, or nil for any other type.
    var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The properties of an object or associative array, or nil.
    var object: AMF0Object? {
        switch self {
        case .object(let value), .array(let value): value
        default: nil
        }
    }

    /// The elements of a strict array, or nil.
    var list: [AMF0Value]? {
        if case .list(let value) = self { value } else { nil }
    }
}

extension AMF0Value: ExpressibleByStringLiteral, ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
    init(stringLiteral value: String) {
        self = .string(value)
    }

    init(floatLiteral value: Double) {
        self = .number(value)
    }

    init(integerLiteral value: Int) {
        self = .number(Double(value))
    }
}

/// The properties of an AMF0 object, in wire order.
struct AMF0Object: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// A property.
    struct Entry: Sendable, Equatable {
        var key: String
        var value: AMF0Value

        init(key: String, value: AMF0Value) {
            self.key = key
            self.value = value
        }
    }

    var entries: [Entry]

    init(_ entries: [Entry] = []) {
        self.entries = entries
    }

    init(dictionaryLiteral elements: (String, AMF0Value)...) {
        entries = elements.map { Entry(key: $0.0, value: $0.1) }
    }

    /// The value of the first property with this name, or nil.
    subscript(key: String) -> AMF0Value? {
        entries.first { $0.key == key }?.value
    }

    /// Returns the first property whose name matches case-insensitively; some encoders write `tcurl`.
    func value(ignoringCaseOf key: String) -> AMF0Value? {
        let key = key.lowercased()
        return entries.first { $0.key.lowercased() == key }?.value
    }

    mutating func append(_ key: String, _ value: AMF0Value) {
        entries.append(Entry(key: key, value: value))
    }
}
