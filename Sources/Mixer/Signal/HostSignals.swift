import Synchronization

/// The signals of all inputs, written by the program's thread ten times a second and read by whoever wants to know.
final class HostSignals: Sendable {
    private let signals = Mutex<[HostSignal]>([])

    var current: [HostSignal] { signals.withLock { $0 } }

    func publish(_ new: [HostSignal]) {
        signals.withLock { $0 = new }
    }
}
