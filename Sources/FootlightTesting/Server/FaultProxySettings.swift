import Synchronization

/// What a proxy's owner and its thread both know.
final class FaultProxySettings: Sendable {
    private struct State {
        var mode: FaultProxy.Mode
        var target: Int
        var connectionCount = 0
        var isAnswerDue = false
        var isOver = false
    }

    private let state: Mutex<State>

    init(mode: FaultProxy.Mode, target: Int) {
        state = Mutex(State(mode: mode, target: target))
    }

    var mode: FaultProxy.Mode {
        get { state.withLock { $0.mode } }
        set { state.withLock { $0.mode = newValue } }
    }

    var target: Int {
        get { state.withLock { $0.target } }
        set { state.withLock { $0.target = newValue } }
    }

    var isAnswerDue: Bool {
        get { state.withLock { $0.isAnswerDue } }
        set { state.withLock { $0.isAnswerDue = newValue } }
    }

    var isOver: Bool {
        get { state.withLock { $0.isOver } }
        set { state.withLock { $0.isOver = newValue } }
    }

    var connectionCount: Int { state.withLock { $0.connectionCount } }

    func countConnection() {
        state.withLock { $0.connectionCount += 1 }
    }
}
