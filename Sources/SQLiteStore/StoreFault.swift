/// Why a database did not do what it was asked for.
public enum StoreFault: Error, Equatable {
    /// Its content cannot be trusted or understood; nothing helps but another database.
    case damaged(String)
    /// Somebody else has it locked; another try may succeed.
    case locked(String)
    /// There is no room for what is to be written; nothing is wrong with the database, which stays open.
    case full(String)
    /// Its file was deleted or replaced while it was open; what it held is not at its place any more.
    case lost(String)
    /// Read-only, out of reach or on a disk that fails; another try may succeed.
    case unavailable(String)

    /// What SQLite says of it, for the log.
    public var reason: String {
        switch self {
        case .damaged(let reason), .locked(let reason), .full(let reason), .lost(let reason),
            .unavailable(let reason):
            reason
        }
    }
}
