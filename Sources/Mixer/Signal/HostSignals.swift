import Synchronization

/// The signals of all inputs, written by the program's thread ten times a second and read by whoever wants to know.
final class HostSignals: Sendable {
    private let signals = Mutex<(hosts: [HostSignal], program: ProgramSignal)>(([], ProgramSignal()))

    var current: [HostSignal] { signals.withLock { $0.hosts } }

    /// How loud they are together.
    var program: ProgramSignal { signals.withLock { $0.program } }

    func publish(_ hosts: [HostSignal], program: ProgramSignal) {
        signals.withLock { $0 = (hosts, program) }
    }
}
