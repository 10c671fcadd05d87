/// Why a database did not do what it was asked for.
public enum StoreFault: Error, Equatable {
    /// Its content cannot be trusted or understood; nothing helps but another database.
    case damaged(String)
    /// Locked, full, read-only or out of reach; another try may succeed.
    case unavailable(String)

    /// What SQLite says of it, for the log.
    public var reason: String {
        switch self {
        case .damaged(let reason), .unavailable(let reason): reason
        }
    }
}
