import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// Tells the service manager that started this process how it is doing, as sd_notify(3) describes it: datagrams to the
/// socket that `NOTIFY_SOCKET` names.
///
/// Any thread; a datagram that cannot be sent at once is dropped.
final class SystemdNotifier: Sendable {
    /// Seconds without a beat after which the manager ends this process; nil when it does not watch.
    let watchdogSeconds: Double?

    /// `SOCK_DGRAM | SOCK_CLOEXEC` of socket(2), which Swift does not always see in the C library.
    private static let datagrams: Int32 = 2 | 0o2_000_000

    private let socket: Int32
    private let address: sockaddr_un
    private let length: socklen_t

    /// Finds the manager in the environment of this process; nil when none wants to be told.
    ///
    /// - Parameters:
    ///   - environment: Variables: `NOTIFY_SOCKET`, and `WATCHDOG_USEC` and `WATCHDOG_PID` where the manager watches.
    ///   - pid: Of this process.
    init?(environment: [String: String], pid: Int32) {
        guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@") else { return nil }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        // A name that begins with @ is one of the abstract namespace, whose first byte is zero.
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { place in
            guard bytes.count < place.count else { return false }
            place.copyBytes(from: bytes)
            return true
        }
        guard fits, let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) else { return nil }
        let socket = Glibc.socket(AF_UNIX, Self.datagrams, 0)
        guard socket >= 0 else { return nil }
        self.socket = socket
        self.address = address
        length = socklen_t(offset + bytes.count)
        let isWatched = environment["WATCHDOG_PID"].map { $0 == "\(pid)" } ?? true
        let seconds = environment["WATCHDOG_USEC"].flatMap { Double($0) }.map { $0 / 1e6 }
        watchdogSeconds = isWatched && (seconds ?? 0) > 0 ? seconds : nil
    }

    deinit {
        close(socket)
    }

    /// Every listener is open.
    func ready() { send("READY=1") }

    /// The process is about to end by itself.
    func stopping() { send("STOPPING=1") }

    /// The process is well; to be sent more often than `watchdogSeconds`.
    func beat() { send("WATCHDOG=1") }

    /// One line for people who ask the manager.
    func status(_ text: String) {
        send("STATUS=" + text.replacingOccurrences(of: "\n", with: " "))
    }

    private func send(_ message: String) {
        var address = address
        let bytes = Array(message.utf8)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
                _ = sendto(socket, bytes, bytes.count, flags, pointer, length)
            }
        }
    }
}
