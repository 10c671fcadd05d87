import Synchronization

/// How many requests wait for media, in all and of each viewer.
///
/// A player waits for the playlist it plays, and while it changes to another rendition for that one too.
final class WaitBudget: Sendable {
    private struct State {
        var total = 0
        var bySession: [String: Int] = [:]
        var refused: UInt64 = 0
    }

    /// Why a request may not wait.
    enum Refusal: Equatable {
        /// Its viewer has enough waiting requests.
        case session
        /// Everybody together has.
        case total
    }

    let limit: (perSession: Int, total: Int)
    private let state = Mutex(State())

    init(_ limit: (perSession: Int, total: Int)) {
        self.limit = limit
    }

    /// Requests that wait.
    var count: Int { state.withLock(\.total) }

    /// Requests that could not wait.
    var refused: UInt64 { state.withLock(\.refused) }

    /// One more request waits; nil when it may.
    ///
    /// - Parameter session: Whose it is; nil when it bears no name.
    func enter(_ session: String?) -> Refusal? {
        state.withLock { state in
            guard state.total < limit.total else {
                state.refused += 1
                return .total
            }
            if let session {
                let waiting = state.bySession[session, default: 0]
                guard waiting < limit.perSession else {
                    state.refused += 1
                    return .session
                }
                state.bySession[session] = waiting + 1
            }
            state.total += 1
            return nil
        }
    }

    /// A request waits no more.
    func leave(_ session: String?) {
        state.withLock { state in
            state.total -= 1
            guard let session, let waiting = state.bySession[session] else { return }
            state.bySession[session] = waiting > 1 ? waiting - 1 : nil
        }
    }
}
