import Foundation
public import Persistence

/// Records in PostgreSQL.
///
/// Every call is one statement or several, each with the deadline of the link. The server acknowledges a write when its
/// synchronous standby has it.
public protocol PostgresStorage: RecordStorage {
    /// The link that executes the statements.
    var link: PostgresLink { get }
}

extension PostgresStorage {
    /// The kind of the database, for the log.
    public var location: String { "PostgreSQL" }

    /// Always 0: a database on a server is repaired by its operator.
    public var quarantinedDatabases: Int { 0 }

    /// Always false: a database on a server is never replaced by an empty one.
    public var needsFullWrite: Bool { false }

    /// Does nothing.
    public func fullWriteCompleted() {}

    /// Checks whether the server, and its synchronous standby, would acknowledge a write.
    public func probe() throws(StoreFault) {
        // The lock of a row is logged and replicated as a write is, and changes nothing.
        _ = try link.rows(PostgresStatement("SELECT number FROM footlight.version FOR SHARE"))
    }

    /// Does nothing: several storages use the link.
    public func close() {}
}

extension PostgresLink {
    /// Executes a statement and returns its rows as text, nil for NULL; blocks the calling thread until then.
    func rows(_ statement: PostgresStatement) throws(StoreFault) -> [[String?]] {
        do throws(PostgresFault) {
            return try executeAndWait(statement)
        } catch {
            throw StoreFault(error)
        }
    }
}

/// The columns of a row, decoded from left to right.
struct PostgresColumns {
    static let malformed = StoreFault.unavailable("a row of the database is not understood")

    private var values: ArraySlice<String?>

    init(_ row: [String?]) {
        values = row[...]
    }

    /// Decodes the next column; nil is NULL.
    mutating func optional<Value: LosslessStringConvertible>() throws(StoreFault) -> Value? {
        guard let column = values.popFirst() else { throw Self.malformed }
        guard let column else { return nil }
        guard let value = Value(column) else { throw Self.malformed }
        return value
    }

    /// Decodes the next column.
    mutating func value<Value: LosslessStringConvertible>() throws(StoreFault) -> Value {
        guard let value: Value = try optional() else { throw Self.malformed }
        return value
    }
}

extension PostgresStatement {
    /// Decodes base64 as PostgreSQL encodes it, in lines; nil if it is none.
    static func bytes(_ text: String) -> Data? {
        Data(base64Encoded: text, options: .ignoreUnknownCharacters)
    }
}

extension StoreFault {
    init(_ fault: PostgresFault) {
        switch fault {
        // disk_full
        case .refused("53100", let reason): self = .full(reason)
        case .refused, .unavailable, .overloaded, .invalid: self = .unavailable("\(fault)")
        }
    }
}
