public import HLS
import Synchronization

/// The HLS programs of all rooms.
public final class HLSDirectory: Sendable {
    private let configuration: HLSConfiguration
    private let programs = Mutex<[String: HLSProgram]>([:])

    /// Makes one from its parts.
    public init(configuration: HLSConfiguration) {
        self.configuration = configuration
    }

    /// The room's program, made when it is not there yet.
    public func open(_ room: String) -> HLSProgram {
        programs.withLock { programs in
            if let program = programs[room] { return program }
            let program = HLSProgram(configuration: configuration)
            programs[room] = program
            return program
        }
    }

    /// The room's program; nil when there is none.
    public func program(_ room: String) -> HLSProgram? {
        programs.withLock { $0[room] }
    }

    /// Forgets a room's program.
    public func close(_ room: String) {
        _ = programs.withLock { $0.removeValue(forKey: room) }
    }
}
