/// What is wrong with JSON that was to be read.
public struct WireFault: Error, Sendable, Equatable {
    /// The path of the field, such as `outputs[0].url`; empty for the whole document.
    public var field: String
    /// What was expected of it, for people.
    public var problem: String

    /// Makes a fault.
    public init(field: String, problem: String) {
        self.field = field
        self.problem = problem
    }

    /// Reads a decoder's error.
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

    /// The fault in one sentence.
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
