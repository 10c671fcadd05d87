import NIOCore
import Synchronization

/// Counts the connections to the public port, and says which of them are too many.
final class ConnectionGate: Sendable {
    /// Connections beyond the limit that are told so at a time; further ones wait to be accepted.
    static let antechamber = 256

    /// Connections that are let in at a time.
    let limit: Int
    private let count = Atomic<Int>(0)
    private let refusals = Atomic<UInt64>(0)

    /// Connections that are in.
    var connections: Int { count.load(ordering: .relaxed) }

    /// Connections that there was no room for.
    var refused: UInt64 { refusals.load(ordering: .relaxed) }

    init(limit: Int) {
        self.limit = limit
    }

    /// Lets a connection in until it closes.
    ///
    /// - Returns: Whether there was room for it.
    func admits(_ channel: any Channel) -> Bool {
        guard count.add(1, ordering: .relaxed).newValue <= limit else {
            count.subtract(1, ordering: .relaxed)
            refusals.add(1, ordering: .relaxed)
            return false
        }
        channel.closeFuture.whenComplete { _ in self.count.subtract(1, ordering: .relaxed) }
        return true
    }
}
