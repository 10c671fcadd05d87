import Dispatch
import Foundation
import GRDB
public import Logging
public import Stage
import Synchronization

/// Stores the lists of revoked and of issued access tokens in an SQLite file of their own.
///
/// Every save of the revoked tokens replaces their whole list, synced, on the store's own queue. A damaged file is
/// quarantined, and a new one written from the list that the gateway has in memory; the issued tokens, which need not be
/// listed to be valid, are in the quarantined file only.
public final class TokenStore: RevokedTokenStoring {
    private static let lockTimeout = 0.5

    private let path: String
    private let logger: Logger
    private let connection: StoreConnection<TokenDatabase>
    /// Serializes all access to the file.
    private let queue = DispatchQueue(label: "footlight.tokens", qos: .utility)
    /// Whether the file may hold entries that could not be read yet; they are read before the list is replaced.
    private let isUnread = Atomic(false)
    /// Issued tokens that are not on disk yet.
    private let unwritten = Mutex<[IssuedToken]>([])

    /// Creates a store; `load()` or the first change opens the file.
    public init(path: String, logger: Logger) {
        self.path = path
        self.logger = logger
        connection = StoreConnection(path: path, lockTimeout: Self.lockTimeout, logger: logger)
    }

    /// Loads the list of an earlier run; empty, with a log message, when it cannot be read.
    ///
    /// Call it before any token is accepted. Takes as long as the disk does, 2 s at most while the file is locked.
    public func load() -> [RevokedToken] {
        queue.sync {
            do throws(StoreFault) {
                return try connection.load { (database) throws(StoreFault) in try database.load() }
            } catch {
                logger.error(
                    "revoked tokens cannot be read, and are accepted until they can",
                    metadata: ["file": "\(path)", "reason": "\(error.reason)"]
                )
                isUnread.store(true, ordering: .relaxed)
                return []
            }
        }
    }

    /// Replaces the stored list; returns when it is on disk.
    public func save(_ tokens: @escaping @Sendable (_ found: [RevokedToken]) -> [RevokedToken]) async throws {
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            queue.async { [self] in
                do throws(StoreFault) {
                    try replace(with: tokens)
                    done.resume()
                } catch {
                    logger.error("revoked tokens cannot be stored", metadata: ["reason": "\(error.reason)"])
                    done.resume(throwing: error)
                }
            }
        }
    }

    /// Checks, on the store's queue, whether the list could be written at this moment.
    ///
    /// Rewrites a file that was deleted, replaced or damaged, and reads one that could not be read at startup.
    ///
    /// - Parameters:
    ///   - tokens: The list, as for `save`.
    ///   - answer: Called on that queue with the problem, or nil.
    public func probe(
        _ tokens: @escaping @Sendable (_ found: [RevokedToken]) -> [RevokedToken],
        _ answer: @escaping @Sendable (_ problem: String?) -> Void
    ) {
        queue.async { [self] in
            do throws(StoreFault) {
                if isUnread.load(ordering: .relaxed) {
                    try replace(with: tokens)
                    logger.notice("revoked tokens were read after an earlier failure", metadata: ["file": "\(path)"])
                } else if connection.needsFullWrite {
                    // The issued tokens were the first to find the file unusable.
                    try replace(with: tokens)
                } else {
                    try connection.probe()
                }
                answer(nil)
            } catch {
                guard error.isOfFile, (try? replace(with: tokens)) != nil else { return answer(error.reason) }
                answer("\(error.reason); rewritten")
            }
        }
    }

    private func replace(with tokens: ([RevokedToken]) -> [RevokedToken]) throws(StoreFault) {
        var found: [RevokedToken] = []
        try connection.perform { (database) throws(StoreFault) in
            // Entries that could not be read so far.
            if isUnread.load(ordering: .relaxed) {
                found += try database.load()
                isUnread.store(false, ordering: .relaxed)
            }
            try database.replace(with: tokens(found))
        }
        connection.fullWriteCompleted()
    }
}

// MARK: Issued tokens

extension TokenStore: IssuedTokenStoring {
    /// The most issued tokens; beyond it those leave the list that expire first.
    public static let issuedCapacity = 10_000

    /// Adds a token to the list; returns at once.
    ///
    /// Several tokens that are made while the disk is busy are written together.
    public func add(_ token: IssuedToken) {
        let isFirst = unwritten.withLock { tokens in
            // No more than the list holds wait for a disk that does not answer.
            if tokens.count >= Self.issuedCapacity { tokens.removeFirst() }
            tokens.append(token)
            return tokens.count == 1
        }
        guard isFirst else { return }
        queue.async { [self] in
            do throws(StoreFault) {
                try writeIssued()
            } catch {
                logger.error("issued tokens cannot be listed yet", metadata: ["reason": "\(error.reason)"])
            }
        }
    }

    /// Returns the tokens that expire after a time, in seconds since 1970, the latest made first.
    public func issued(after time: Double) async throws -> [IssuedToken] {
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<[IssuedToken], any Error>) in
            queue.async { [self] in
                do throws(StoreFault) {
                    try writeIssued()
                    done.resume(
                        returning: try connection.perform { (database) throws(StoreFault) in
                            try database.issued(after: time)
                        }
                    )
                } catch {
                    logger.error("issued tokens cannot be read", metadata: ["reason": "\(error.reason)"])
                    done.resume(throwing: error)
                }
            }
        }
    }

    /// Writes, on the store's queue, the tokens that are not on disk yet; they stay in memory when that fails.
    private func writeIssued() throws(StoreFault) {
        let tokens = unwritten.withLock { tokens in
            defer { tokens = [] }
            return tokens
        }
        guard !tokens.isEmpty else { return }
        do {
            try connection.perform { (database) throws(StoreFault) in
                try database.add(tokens, capacity: Self.issuedCapacity, now: Date().timeIntervalSince1970)
            }
        } catch {
            unwritten.withLock { later in later = Array((tokens + later).suffix(Self.issuedCapacity)) }
            throw error
        }
    }
}
