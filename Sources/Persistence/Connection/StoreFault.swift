import GRDB

/// Classifies why a database operation failed.
public enum StoreFault: Error, Equatable {
    /// The content cannot be trusted or understood; only a new database helps.
    case damaged(String)
    /// Another process holds the lock; a retry may succeed.
    case locked(String)
    /// The disk is full; the database itself is intact and stays open.
    case full(String)
    /// The file was deleted or replaced while it was open; its content is no longer at the path.
    case lost(String)
    /// The file is read-only, unreachable or on a failing disk, or the server did not answer in time, so that whether it
    /// executed a write is unknown; a retry may succeed.
    case unavailable(String)
    /// Another gateway owns the record by now; the write had no effect, and no retry will have one.
    case fenced(String)

    /// The message of the database, for the log.
    public var reason: String {
        switch self {
        case .damaged(let reason), .locked(let reason), .full(let reason), .lost(let reason),
            .unavailable(let reason), .fenced(let reason):
            reason
        }
    }

    /// Whether the file itself is unusable, so that a retry with a new file succeeds.
    var isOfFile: Bool {
        switch self {
        case .damaged, .lost: true
        case .locked, .full, .unavailable, .fenced: false
        }
    }
}

extension StoreFault: CustomStringConvertible {
    /// The message of the database.
    public var description: String { reason }
}

extension StoreFault {
    /// Runs `body` and translates its errors to a `StoreFault`.
    ///
    /// - Parameter isOpen: Whether the database was opened already, so that `SQLITE_ERROR` means an unknown schema
    ///   rather than an unsuitable path.
    static func translating<Outcome>(
        isOpen: Bool = true,
        _ body: () throws -> Outcome
    ) throws(StoreFault) -> Outcome {
        do {
            return try body()
        } catch let fault as StoreFault {
            throw fault
        } catch let error as DatabaseError {
            let reason = "\(error.extendedResultCode): \(error.message ?? "no message")"
            switch error.resultCode {
            case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT, .SQLITE_MISMATCH: throw .damaged(reason)
            case .SQLITE_ERROR where isOpen: throw .damaged(reason)
            case .SQLITE_BUSY, .SQLITE_LOCKED: throw .locked(reason)
            case .SQLITE_FULL: throw .full(reason)
            default: throw .unavailable(reason)
            }
        } catch let error as RowDecodingError {
            throw .damaged("\(error)")
        } catch {
            throw .unavailable("\(error)")
        }
    }
}
