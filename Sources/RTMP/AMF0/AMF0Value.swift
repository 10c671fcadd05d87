/// A value of the Action Message Format, version 0 (Adobe, December 2007), as far as RTMP peers use it.
enum AMF0Value: Sendable, Equatable {
    case number(Double)
    case boolean(Bool)
    /// A string of any length; long strings and XML documents are read as this too.
    case string(String)
    /// An anonymous or typed object.
    case object(AMF0Object)
    case null
    case undefined
    /// An associative array; many peers send one where an object is meant.
    case array(AMF0Object)
    case list([AMF0Value])
    /// Milliseconds since 1970; the time zone field is reserved and not kept.
    case date(Double)

    /// The number, when it is one.
    var number: Double? {
        if case .number(let value) = self { value } else { nil }
    }

    /// The truth value, when it is one.
    var boolean: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    /// The text, when it is a string.
    var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The properties, whether they came as an object or as an associative array.
    var object: AMF0Object? {
        switch self {
        case .object(let value), .array(let value): value
        default: nil
        }
    }

    /// The elements, when it is a strict array.
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
