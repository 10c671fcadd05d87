import Dispatch
public import Logging
import Media
import Synchronization

/// Executes statements on whichever server of a connection string accepts writes, one after the other.
///
/// A thread of its own owns the connection. Every statement or transaction is answered by its timeout.
/// A connection that is lost or late is replaced, by one to the next server first.
public final class PostgresLink: Sendable {
    /// The settings.
    public struct Configuration: Sendable {
        /// The connection string of libpq; it may name several servers, and contain a password.
        public var connection: String
        /// The milliseconds within which a statement is answered, with the time to connect.
        public var timeout: Int64
        /// The maximum number of statements that wait.
        public var queueLimit: Int

        /// Makes the settings.
        ///
        /// - Parameter timeout: Milliseconds; limited to 50 to 60,000.
        public init(connection: String, timeout: Int64 = 700, queueLimit: Int = 64) {
            self.connection = connection
            self.timeout = min(max(timeout, 50), 60_000)
            self.queueLimit = queueLimit
        }
    }

    private let queue: PostgresQueue
    private let timeout: Int64

    /// Starts the thread; the first statement opens the connection.
    ///
    /// - Throws: `PostgresFault.invalid` if the connection string cannot be used.
    public init(_ configuration: Configuration, logger: Logger) throws(PostgresFault) {
        let servers = try PostgresServer.servers(of: configuration.connection)
        let queue = PostgresQueue(limit: configuration.queueLimit)
        self.queue = queue
        timeout = configuration.timeout
        let thread = WorkerThread(name: "postgres") {
            var worker = PostgresWorker(servers: servers, timeout: configuration.timeout, logger: logger)
            while let job = queue.next() { job.execute(&worker) }
        }
        if !thread.hasStarted { queue.close() }
    }

    deinit { queue.close() }

    /// Executes a statement and returns its rows as text; nil is NULL.
    public func execute(_ statement: PostgresStatement) async throws(PostgresFault) -> [[String?]] {
        let deadline = MonotonicTime.now().advanced(milliseconds: timeout)
        let result = await withCheckedContinuation { continuation in
            add(until: deadline) {
                continuation.resume(returning: $0)
            } body: { (connection) throws(PostgresFault) in
                try connection.run(statement, until: deadline)
            }
        }
        return try result.get()
    }

    /// Executes a statement and returns its rows as text, nil for NULL; blocks the calling thread until then.
    ///
    /// For queues whose work may block, never for an event loop or a task.
    public func executeAndWait(_ statement: PostgresStatement) throws(PostgresFault) -> [[String?]] {
        let deadline = MonotonicTime.now().advanced(milliseconds: timeout)
        return try wait(until: deadline) { (connection) throws(PostgresFault) in
            try connection.run(statement, until: deadline)
        }
    }

    /// Executes several statements as one transaction; blocks the calling thread until it is committed.
    ///
    /// For queues whose work may block, never for an event loop or a task. The timeout is that of the whole transaction.
    ///
    /// - Parameter body: Executes the statements, on the link's thread; a fault that it throws undoes them.
    func transactionAndWait<Outcome: Sendable>(
        _ body: @escaping @Sendable (PostgresTransaction) throws(PostgresFault) -> Outcome
    ) throws(PostgresFault) -> Outcome {
        let deadline = MonotonicTime.now().advanced(milliseconds: timeout)
        return try wait(until: deadline) { (connection) throws(PostgresFault) in
            try PostgresTransaction.run(on: connection, until: deadline, body)
        }
    }

    private func wait<Outcome: Sendable>(
        until deadline: MonotonicTime,
        _ body: @escaping @Sendable (PostgresConnection) throws(PostgresFault) -> Outcome
    ) throws(PostgresFault) -> Outcome {
        let answer = PostgresAnswer<Outcome>()
        add(until: deadline, finish: { answer.set($0) }, body: body)
        return try answer.wait(milliseconds: timeout + Self.allowance).get()
    }

    private func add<Outcome>(
        until deadline: MonotonicTime,
        finish: @escaping @Sendable (Result<Outcome, PostgresFault>) -> Void,
        body: @escaping @Sendable (PostgresConnection) throws(PostgresFault) -> Outcome
    ) {
        queue.add(
            PostgresQueue.Job {
                finish($0.perform(until: deadline, body))
            } fail: {
                finish(.failure($0))
            }
        )
    }

    /// The milliseconds after a statement's deadline until its caller goes on without an answer, as when the name of a
    /// host is being resolved.
    private static let allowance: Int64 = 1000

    /// Ends the thread; statements that wait fail, and so do later ones.
    public func close() {
        queue.close()
    }
}

/// The answer to a statement or transaction, for a thread that waits.
private final class PostgresAnswer<Outcome: Sendable>: Sendable {
    private let result = Mutex(Result<Outcome, PostgresFault>.failure(.unavailable("no answer in time")))
    private let signal = DispatchSemaphore(value: 0)

    func set(_ answer: Result<Outcome, PostgresFault>) {
        result.withLock { $0 = answer }
        signal.signal()
    }

    func wait(milliseconds: Int64) -> Result<Outcome, PostgresFault> {
        _ = signal.wait(timeout: .now() + .milliseconds(Int(milliseconds)))
        return result.withLock { $0 }
    }
}

/// The statements that wait for the thread.
final class PostgresQueue: Sendable {
    struct Job: Sendable {
        /// Called by the thread.
        var execute: @Sendable (inout PostgresWorker) -> Void
        /// Called instead if the job is not executed.
        var fail: @Sendable (PostgresFault) -> Void
    }

    private struct State {
        var jobs: [Job] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    /// Counts the jobs, and the close.
    private let signal = DispatchSemaphore(value: 0)
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// Adds a job, or ends it at once if there are too many.
    func add(_ job: Job) {
        let fault: PostgresFault? = state.withLock { state in
            if state.isClosed { return .unavailable("the link is closed") }
            if state.jobs.count >= limit { return .overloaded }
            state.jobs.append(job)
            return nil
        }
        if let fault { job.fail(fault) } else { signal.signal() }
    }

    /// Waits for a job and removes it; nil once the queue is closed.
    func next() -> Job? {
        signal.wait()
        return state.withLock { $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }
    }

    func close() {
        let jobs = state.withLock { state in
            defer { state.jobs = [] }
            state.isClosed = true
            return state.jobs
        }
        for job in jobs { job.fail(.unavailable("the link is closed")) }
        signal.signal()
    }
}

/// The statements of one transaction; used by the thread of the link, while it calls the transaction's body.
struct PostgresTransaction {
    private let connection: PostgresConnection
    private let deadline: MonotonicTime

    /// Executes a statement and returns its rows as text; nil is NULL.
    @discardableResult
    func run(_ sql: String, _ arguments: [String?] = []) throws(PostgresFault) -> [[String?]] {
        try connection.run(PostgresStatement(sql, arguments), until: deadline)
    }

    /// Executes the statements of `body`, and commits them.
    static func run<Outcome>(
        on connection: PostgresConnection,
        until deadline: MonotonicTime,
        _ body: (PostgresTransaction) throws(PostgresFault) -> Outcome
    ) throws(PostgresFault) -> Outcome {
        let transaction = PostgresTransaction(connection: connection, deadline: deadline)
        try transaction.run("BEGIN")
        let outcome: Outcome
        do throws(PostgresFault) {
            outcome = try body(transaction)
            // If a statement was refused, and the body went on regardless, this one is refused, too.
            try transaction.run("SELECT")
        } catch {
            // A connection that was lost or late is given up, and the transaction with it.
            if case .unavailable = error { throw error }
            try transaction.run("ROLLBACK")
            throw error
        }
        try transaction.run("COMMIT")
        return outcome
    }
}
