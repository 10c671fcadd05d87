import CPostgres
import Glibc
import Media

/// A connection to one server, used by one thread; every step has a deadline.
///
/// After a missed deadline the connection is useless and must be released. A statement is never cancelled: the server
/// would answer a cancelled wait for its standby with success, although the standby lacks the write.
final class PostgresConnection {
    private let handle: OpaquePointer
    /// Not 0 if the server warned about the present statement; written by the notice receiver of libpq.
    private let hasWarning: UnsafeMutablePointer<CInt>

    /// The number of connections waiting for a standby from which no further one is used.
    private static let waitingLimit = 8

    /// Connects, and prepares the session.
    ///
    /// Resolving a host's name blocks the thread, and is not limited by the deadline.
    ///
    /// - Parameter lockTimeout: The milliseconds for which the server lets a statement wait for a lock.
    init(_ server: PostgresServer, lockTimeout: Int64, until deadline: MonotonicTime) throws(PostgresFault) {
        let keywords = server.settings.keys.sorted()
        guard
            let handle = withCStrings(
                keywords,
                { keys in
                    withCStrings(keywords.map { server.settings[$0] }) { PQconnectStartParams(keys, $0, 0) }
                }
            )
        else { throw .unavailable("out of memory") }
        self.handle = handle
        hasWarning = .allocate(capacity: 1)
        hasWarning.initialize(to: 0)
        footlight_postgres_watch_notices(handle, hasWarning)
        try connect(until: deadline)
        guard PQsetnonblocking(handle, 1) == 0 else { throw lost("the connection cannot be used without blocking") }
        try prepare(lockTimeout: lockTimeout, until: deadline)
    }

    deinit {
        PQfinish(handle)
        hasWarning.deallocate()
    }

    private func connect(until deadline: MonotonicTime) throws(PostgresFault) {
        var state = PGRES_POLLING_WRITING
        while state != PGRES_POLLING_OK {
            switch state {
            case PGRES_POLLING_READING: try wait(for: POLLIN, until: deadline)
            case PGRES_POLLING_WRITING: try wait(for: POLLOUT, until: deadline)
            default: throw lost("no connection")
            }
            state = PQconnectPoll(handle)
        }
    }

    private func prepare(lockTimeout: Int64, until deadline: MonotonicTime) throws(PostgresFault) {
        // Roles and databases can have weaker defaults, by which a server acknowledges what only it has. A session whose
        // client is gone must not wait for the row that an earlier one has locked until a standby is back.
        let settings = """
            SET synchronous_commit = on; SET client_min_messages = warning; SET lock_timeout = \(lockTimeout)
            """
        _ = try run(PostgresStatement(settings), until: deadline)
        // The server keeps a session that waits for a standby when its client is gone. Each further one would wait, too,
        // until the server accepts no connections at all.
        let waiting = try run(
            PostgresStatement(
                "SELECT count(*) FROM pg_stat_activity WHERE usename = current_user AND wait_event = 'SyncRep'"
            ),
            until: deadline
        )
        guard let text = waiting.first?.first, let count = text.flatMap({ Int($0) }), count < Self.waitingLimit else {
            throw .unavailable("writes wait for a standby server")
        }
    }

    /// Executes a statement and returns its rows as text; nil is NULL.
    func run(_ statement: PostgresStatement, until deadline: MonotonicTime) throws(PostgresFault) -> [[String?]] {
        hasWarning.pointee = 0
        try send(statement, until: deadline)
        var rows: [[String?]] = []
        var refusal: PostgresFault?
        while true {
            while PQisBusy(handle) == 1 {
                try wait(for: POLLIN, until: deadline)
                guard PQconsumeInput(handle) == 1 else { throw lost("the connection was lost") }
            }
            guard let result = PQgetResult(handle) else { break }
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_TUPLES_OK: rows = Self.rows(of: result)
            case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: break
            default: refusal = refusal ?? fault(of: result)
            }
        }
        if let refusal { throw refusal }
        guard hasWarning.pointee == 0 else {
            // Such as an administrator's cancellation of the wait for the standby.
            throw .unavailable("the server executed the statement with a warning")
        }
        return rows
    }

    private func send(_ statement: PostgresStatement, until deadline: MonotonicTime) throws(PostgresFault) {
        guard !statement.arguments.contains(where: { $0?.utf8.contains(0) == true }) else {
            throw .invalid("an argument contains a null character")
        }
        let isSent =
            statement.arguments.isEmpty
            ? PQsendQuery(handle, statement.sql)
            : withCStrings(statement.arguments) { values in
                PQsendQueryParams(handle, statement.sql, Int32(statement.arguments.count), nil, values, nil, nil, 0)
            }
        guard isSent == 1 else { throw lost("the statement cannot be sent") }
        while true {
            switch PQflush(handle) {
            case 0: return
            case 1:
                // The server may have to get rid of an answer before it reads on.
                try wait(for: POLLIN | POLLOUT, until: deadline)
                guard PQconsumeInput(handle) == 1 else { throw lost("the connection was lost") }
            default: throw lost("the statement cannot be sent")
            }
        }
    }

    private func wait(for events: Int32, until deadline: MonotonicTime) throws(PostgresFault) {
        var entry = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
        guard entry.fd >= 0 else { throw lost("the connection was lost") }
        while true {
            let left = (deadline.nanoseconds - MonotonicTime.now().nanoseconds + 999_999) / 1_000_000
            guard left > 0 else { throw .unavailable("no answer in time") }
            let count = poll(&entry, 1, Int32(min(left, 60_000)))
            if count > 0 { return }
            guard count == 0 || errno == EINTR else { throw lost("the connection cannot be watched") }
        }
    }

    private func fault(of result: OpaquePointer) -> PostgresFault {
        let message = Self.firstLine(PQresultErrorMessage(result))
        guard let code = footlight_postgres_code(result).map({ String(cString: $0) }) else {
            return .unavailable(message)
        }
        // Connection exceptions, and the end of the session by an operator or a crash, say nothing of the statement.
        let isLost = PQstatus(handle) != CONNECTION_OK || code.hasPrefix("08") || code.hasPrefix("57P")
        return isLost ? .unavailable(message) : .refused(code: code, message)
    }

    private func lost(_ reason: String) -> PostgresFault {
        let message = Self.firstLine(PQerrorMessage(handle))
        return .unavailable(message.isEmpty ? reason : "\(reason): \(message)")
    }

    private static func firstLine(_ text: UnsafePointer<CChar>?) -> String {
        guard let text else { return "" }
        return String(String(cString: text).prefix { $0 != "\n" }.prefix(300))
    }

    private static func rows(of result: OpaquePointer) -> [[String?]] {
        (0..<PQntuples(result)).map { row in
            (0..<PQnfields(result)).map { column in
                PQgetisnull(result, row, column) == 1
                    ? nil : PQgetvalue(result, row, column).map { String(cString: $0) }
            }
        }
    }
}

/// Passes texts as a C array that ends with null.
private func withCStrings<Result>(
    _ texts: [String?],
    _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
) -> Result {
    let copies = texts.map { text in text.flatMap { strdup($0) } }
    defer { for copy in copies { free(copy) } }
    let pointers = copies.map { UnsafePointer($0) } + [nil]
    return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
}
