import Synchronization

/// Bytes that came by one connection; added to on its event loop, read for reports.
final class ReceivedBytes: Sendable {
    let count = Atomic<UInt64>(0)
}
