import Synchronization

/// Bytes that came by one connection; added to on its event loop, read for reports.
final class ReceivedBytes: Sendable {
    private let count = Atomic<UInt64>(0)

    func add(_ bytes: Int) { count.add(UInt64(bytes), ordering: .relaxed) }

    var total: UInt64 { count.load(ordering: .relaxed) }
}
