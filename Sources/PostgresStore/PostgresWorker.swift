import Glibc
import Logging
import Media

/// Keeps a connection to the server that accepts writes; owned by the thread of a `PostgresLink`.
struct PostgresWorker {
    private let servers: [PostgresServer]
    private let timeout: Int64
    private let logger: Logger
    private var connection: PostgresConnection?
    /// The index of the server to use; the next one after a failure.
    private var current = 0
    private var backoff: Backoff
    /// The time before which no connection is opened.
    private var retryAt = MonotonicTime(nanoseconds: .min)
    private var isFailing = false

    init(servers: [PostgresServer], timeout: Int64, logger: Logger) {
        self.servers = servers
        self.timeout = timeout
        self.logger = logger
        // Far shorter than a node may be silent: after an outage every node is back before others may fence it.
        let seconds = Double(timeout) / 1000
        backoff = Backoff(initial: seconds / 16, maximum: seconds / 2, jitter: 0.5)
    }

    /// Executes a statement, or several, by a deadline.
    mutating func perform<Outcome>(
        until deadline: MonotonicTime,
        _ body: (PostgresConnection) throws(PostgresFault) -> Outcome
    ) -> Result<Outcome, PostgresFault> {
        guard MonotonicTime.now() < deadline else { return .failure(.unavailable("the statement waited too long")) }
        do {
            let connection = try connected(by: deadline)
            let outcome = try body(connection)
            succeeded()
            return .success(outcome)
        } catch .refused(let code, let reason) where !Self.isReadOnly(code) {
            succeeded()
            return .failure(.refused(code: code, reason))
        } catch .invalid(let reason) {
            return .failure(.invalid(reason))
        } catch {
            failed(error)
            // A server that has become a standby refuses writes: so far unknown is only where they are accepted.
            return .failure(.unavailable("\(error)"))
        }
    }

    /// Whether a server refused a write because it is a standby.
    private static func isReadOnly(_ code: String) -> Bool { code == "25006" }

    private mutating func connected(by deadline: MonotonicTime) throws(PostgresFault) -> PostgresConnection {
        if let connection { return connection }
        var fault = PostgresFault.unavailable("no server was tried in time")
        let begin = max(MonotonicTime.now(), retryAt)
        guard begin < deadline else {
            pause(until: deadline)
            throw fault
        }
        pause(until: begin)
        for _ in servers {
            let now = MonotonicTime.now()
            guard now < deadline else { throw fault }
            // A server that does not answer leaves time for the next one.
            let share = servers.count == 1 ? deadline : min(deadline, now.advanced(milliseconds: timeout / 2))
            do {
                let opened = try PostgresConnection(servers[current], lockTimeout: timeout, until: share)
                connection = opened
                return opened
            } catch {
                fault = error
                current = (current + 1) % servers.count
            }
        }
        throw fault
    }

    private func pause(until time: MonotonicTime) {
        let nanoseconds = time.nanoseconds - MonotonicTime.now().nanoseconds
        if nanoseconds > 0 { usleep(UInt32(min(nanoseconds / 1000, 60_000_000))) }
    }

    private mutating func succeeded() {
        backoff.reset()
        guard isFailing else { return }
        isFailing = false
        logger.notice("database answers again", metadata: ["server": "\(servers[current].name)"])
    }

    private mutating func failed(_ fault: PostgresFault) {
        if connection != nil {
            connection = nil
            current = (current + 1) % servers.count
        }
        retryAt = MonotonicTime.now().advanced(seconds: backoff.next())
        guard !isFailing else { return }
        isFailing = true
        logger.warning("database does not answer", metadata: ["reason": "\(fault)"])
    }
}
