import GRDB

extension StoreFault {
    /// Does something with a database and tells what goes wrong as one of the kinds of fault.
    ///
    /// - Parameter isOpen: Whether an error in a statement means that the tables are not ours, rather than that the place
    ///   is not good for a database.
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
