import Dispatch
public import Logging
import Media
import Synchronization

/// Executes statements on whichever server of a connection string accepts writes, one after the other.
///
/// A thread of its own owns the connection, so nothing here blocks a caller. Every statement is answered by its timeout.
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
            while let job = queue.next() { job.finish(worker.execute(job.statement, until: job.deadline)) }
        }
        if !thread.hasStarted { queue.close() }
    }

    deinit { queue.close() }

    /// Executes a statement and returns its rows as text; nil is NULL.
    public func execute(_ statement: PostgresStatement) async throws(PostgresFault) -> [[String?]] {
        let deadline = MonotonicTime.now().advanced(milliseconds: timeout)
        let result = await withCheckedContinuation { continuation in
            queue.add(
                PostgresQueue.Job(statement: statement, deadline: deadline) { continuation.resume(returning: $0) }
            )
        }
        return try result.get()
    }

    /// Executes a statement and returns its rows as text, nil for NULL; blocks the calling thread until then.
    ///
    /// For queues whose work may block, never for an event loop or a task.
    public func executeAndWait(_ statement: PostgresStatement) throws(PostgresFault) -> [[String?]] {
        let deadline = MonotonicTime.now().advanced(milliseconds: timeout)
        let answer = PostgresAnswer()
        queue.add(PostgresQueue.Job(statement: statement, deadline: deadline) { answer.set($0) })
        return try answer.wait(milliseconds: timeout + Self.allowance).get()
    }

    /// The milliseconds after a statement's deadline until its caller goes on without an answer, as when the name of a
    /// host is being resolved.
    private static let allowance: Int64 = 1000

    /// Ends the thread; statements that wait fail, and so do later ones.
    public func close() {
        queue.close()
    }
}

/// The answer to a statement, for a thread that waits.
private final class PostgresAnswer: Sendable {
    private let result = Mutex(Result<[[String?]], PostgresFault>.failure(.unavailable("no answer in time")))
    private let signal = DispatchSemaphore(value: 0)

    func set(_ answer: Result<[[String?]], PostgresFault>) {
        result.withLock { $0 = answer }
        signal.signal()
    }

    func wait(milliseconds: Int64) -> Result<[[String?]], PostgresFault> {
        _ = signal.wait(timeout: .now() + .milliseconds(Int(milliseconds)))
        return result.withLock { $0 }
    }
}

/// The statements that wait for the thread.
final class PostgresQueue: Sendable {
    struct Job: Sendable {
        var statement: PostgresStatement
        var deadline: MonotonicTime
        var finish: @Sendable (Result<[[String?]], PostgresFault>) -> Void
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
        if let fault { job.finish(.failure(fault)) } else { signal.signal() }
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
        for job in jobs { job.finish(.failure(.unavailable("the link is closed"))) }
        signal.signal()
    }
}
