public import Foundation

/// Encodes and decodes the JSON of the control API: keys as the types name them, unescaped slashes.
public enum WireJSON {
    /// Encodes a value with sorted keys, so that equal values are equal bytes.
    public static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }

    /// Decodes a value; unknown fields are ignored.
    ///
    /// - Throws: `WireDecodingError` naming the field.
    public static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws(WireDecodingError) -> Value
    {
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            throw WireDecodingError(error)
        }
    }
}

extension WireJSON {
    /// Returns the path of a field that a decoded value does not have; nil if it has all of them.
    ///
    /// A field with `null` is taken for one that was left out.
    public static func unknownField(in data: Data, of value: some Encodable) -> String? {
        guard let encoded = try? encode(value), let given = try? JSONSerialization.jsonObject(with: data),
            let known = try? JSONSerialization.jsonObject(with: encoded)
        else { return nil }
        return unknownField(in: given, of: known, at: "")
    }

    private static func unknownField(in given: Any, of known: Any, at path: String) -> String? {
        if let given = given as? [String: Any], let known = known as? [String: Any] {
            for (key, value) in given.sorted(by: { $0.key < $1.key }) where !(value is NSNull) {
                let field = path.isEmpty ? key : "\(path).\(key)"
                guard let counterpart = known[key] else { return field }
                if let found = unknownField(in: value, of: counterpart, at: field) { return found }
            }
        } else if let given = given as? [Any], let known = known as? [Any] {
            for (index, pair) in zip(given, known).enumerated() {
                if let found = unknownField(in: pair.0, of: pair.1, at: "\(path)[\(index)]") { return found }
            }
        }
        return nil
    }
}

/// A violation found while decoding JSON.
public struct WireDecodingError: Error, Sendable, Equatable {
    /// The path of the field, such as `outputs[0].url`; empty for the whole document.
    public var field: String
    /// The expected value, for people.
    public var problem: String

    /// Creates an error.
    public init(field: String, problem: String) {
        self.field = field
        self.problem = problem
    }

    /// Converts a decoder's error.
    init(_ error: any Error) {
        guard let error = error as? DecodingError else {
            self.init(field: "", problem: "is not JSON")
            return
        }
        switch error {
        case .typeMismatch(let type, let context):
            self.init(field: Self.path(context.codingPath), problem: "must be \(Self.word(for: type))")
        case .valueNotFound(let type, let context):
            self.init(field: Self.path(context.codingPath), problem: "must be \(Self.word(for: type)), not null")
        case .keyNotFound(let key, let context):
            self.init(field: Self.path(context.codingPath + [key]), problem: "is missing")
        case .dataCorrupted(let context) where !context.codingPath.isEmpty:
            self.init(field: Self.path(context.codingPath), problem: "cannot be read")
        default:
            self.init(field: "", problem: "is not JSON")
        }
    }

    /// The error in one sentence.
    public var sentence: String {
        field.isEmpty ? "the body \(problem)" : "\(field) \(problem)"
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.reduce(into: "") { path, key in
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += path.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
    }

    private static func word(for type: any Any.Type) -> String {
        switch type {
        case is String.Type: "text"
        case is Bool.Type: "true or false"
        case is Int.Type, is UInt64.Type: "a whole number"
        case is Double.Type: "a number"
        case is [Any].Type: "a list"
        default: "an object"
        }
    }
}
