import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// Reports the state of this process to the service manager, by datagrams to the socket of `NOTIFY_SOCKET` as described
/// in sd_notify(3).
///
/// Any thread; a datagram that would block is dropped.
final class SystemdNotifier: Sendable {
    /// The watchdog's timeout in seconds; nil without a watchdog.
    let watchdogSeconds: Double?

    /// `SOCK_DGRAM | SOCK_CLOEXEC` of socket(2), which the Glibc module does not always export.
    private static let datagrams: Int32 = 2 | 0o2_000_000

    private let socket: Int32
    private let address: sockaddr_un
    private let length: socklen_t

    /// Finds the service manager in the environment; nil without one.
    ///
    /// - Parameters:
    ///   - environment: The variables with `NOTIFY_SOCKET`, and `WATCHDOG_USEC` and `WATCHDOG_PID` for a watchdog.
    ///   - pid: The id of this process.
    init?(environment: [String: String], pid: Int32) {
        guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@") else { return nil }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        // A leading @ stands for the zero byte of the abstract namespace.
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

    /// Reports that every listener is open.
    func ready() { send("READY=1") }

    /// Reports that the process is shutting down.
    func stopping() { send("STOPPING=1") }

    /// Notifies the watchdog; must be called more often than `watchdogSeconds`.
    func notifyWatchdog() { send("WATCHDOG=1") }

    /// Sets the one-line status.
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
