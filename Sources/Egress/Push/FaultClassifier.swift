import Media
import Stage

/// What kind of fault ended a try, and whether another one soon can help: rules alone.
///
/// A target that says no, or cannot be right, fails at once. One that hangs up before it has taken anything may just
/// be going down, so it is believed the second time. One that had the stream a moment ago may still hold the old
/// connection and refuse a second, so it is believed the fifth time. Whatever the network does is no reason to give up
/// before the budget of time is spent.
struct FaultClassifier: Sendable {
    /// Refusals in a row after which a target that had the stream is believed.
    static let ghostlyRefusals = 5

    private let retryBudget: Double
    private var hadStream = false
    /// Refusals in a row.
    private var refusals = 0
    /// Since when there is no connection.
    private var disconnectedSince: MonotonicTime?

    /// - Parameter retryBudget: Seconds without a connection after which only slow tries are left.
    init(retryBudget: Double) {
        self.retryBudget = retryBudget
    }

    /// The first try begins, or a connection is lost.
    mutating func disconnected(now: MonotonicTime) {
        disconnectedSince = now
    }

    /// The target took the stream.
    mutating func accepted() {
        hadStream = true
        refusals = 0
        disconnectedSince = nil
    }

    /// From now on the faults are those of another address, which has not had the stream.
    mutating func movedToOtherAddress() {
        hadStream = false
        refusals = 0
    }

    /// Takes in what ended a try or a connection.
    mutating func classify(_ error: PushError, now: MonotonicTime) -> OutputFault {
        refusals = error.code == .refused ? refusals + 1 : 0
        return OutputFault(Self.code(of: error), error.message, retry: isHopeless(error, now: now) ? .slow : .soon)
    }

    private func isHopeless(_ error: PushError, now: MonotonicTime) -> Bool {
        if let disconnectedSince, now.seconds(since: disconnectedSince) >= retryBudget { return true }
        return switch error.code {
        case .invalidAddress, .forbiddenAddress, .insecure: true
        case .refused: refusals >= (hadStream ? Self.ghostlyRefusals : error.isExplicit ? 1 : 2)
        case .nameNotFound, .unreachable, .timedOut, .closed, .stalled, .local: false
        }
    }

    static func code(of error: PushError) -> OutputFault.Code {
        switch error.code {
        case .invalidAddress: .invalidAddress
        case .forbiddenAddress: .forbiddenAddress
        case .nameNotFound: .nameNotFound
        case .unreachable: .unreachable
        case .insecure: .certificate
        case .timedOut: .timedOut
        case .refused where !error.isExplicit: .hungUp
        case .refused: error.statusCode.hasPrefix("NetConnection.") ? .applicationRefused : .keyRefused
        case .closed: .connectionLost
        case .stalled: .stalled
        case .local: .local
        }
    }
}
