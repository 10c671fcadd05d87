/// Describes why a statement failed.
public enum PostgresFault: Error, Sendable, Hashable {
    /// There was no answer in time or no server that accepts writes; whether the statement was executed is unknown.
    case unavailable(String)
    /// The server refused the statement, which had no effect.
    case refused(code: String, String)
    /// Too many statements wait; this one was not sent.
    case overloaded
    /// The connection string or an argument cannot be used.
    case invalid(String)
}

extension PostgresFault: CustomStringConvertible {
    /// The reason, for the log; contains no password.
    public var description: String {
        switch self {
        case .unavailable(let reason), .invalid(let reason): reason
        case .refused(let code, let reason): "\(reason) (\(code))"
        case .overloaded: "too many statements wait"
        }
    }
}

/// A statement with its arguments.
public struct PostgresStatement: Sendable, Hashable {
    /// The SQL text, with `$1` for the first argument; without arguments it may be several statements, which are executed
    /// as one transaction.
    public var sql: String
    /// The arguments as text; nil is NULL.
    public var arguments: [String?]

    /// Makes a statement.
    public init(_ sql: String, _ arguments: [String?] = []) {
        self.sql = sql
        self.arguments = arguments
    }

    /// Returns the text form of an array; nil is NULL.
    public static func array(_ elements: [String?]) -> String {
        let quoted = elements.map { element in
            guard let element else { return "NULL" }
            var text = "\""
            for character in element.unicodeScalars {
                if character == "\"" || character == "\\" { text.unicodeScalars.append("\\") }
                text.unicodeScalars.append(character)
            }
            return text + "\""
        }
        return "{" + quoted.joined(separator: ",") + "}"
    }
}
