import CSeccomp
import Foundation
import Glibc
import Media
import Synchronization

/// Opens the connections of one confined mixer, and reports its refused system calls.
///
/// A seccomp filter sees numbers, not the addresses that they point to. A confined mixer's `connect` is therefore
/// trapped, and its socket is sent here with a copy of the address, which the mixer cannot change after the check. The
/// channel is the mixer's standard input: it closes when the gateway ends, and then the mixer exits.
final class MixerBroker: Sendable {
    /// A refused system call.
    struct Refusal: Sendable, Equatable {
        /// The name of the system call.
        var call: String
        /// The target of a refused connection.
        var target: SocketTarget?
        /// Whether the mixer was killed for it.
        var isFatal: Bool
    }

    /// The most reported refusals per mixer.
    private static let maximumReported = 16
    /// The pause in milliseconds after a refusal or an invalid message, so that a mixer cannot keep this process busy.
    private static let penalty: UInt32 = 20

    /// The mixer's end of the socket pair; closed by `started`.
    let mixerEnd: Int32
    /// The gateway's end of the socket pair; nil after it is closed.
    private let end: Mutex<Int32?>
    private let targets: Set<SocketTarget>
    private let onRefusal: @Sendable (Refusal) -> Void

    /// - Parameters:
    ///   - targets: The allowed addresses.
    ///   - onRefusal: Called with each refusal, on a thread of the broker.
    init(targets: Set<SocketTarget>, onRefusal: @escaping @Sendable (Refusal) -> Void) throws {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        end = Mutex(ends[0])
        mixerEnd = ends[1]
        self.targets = targets
        self.onRefusal = onRefusal
    }

    /// Serves the mixer, which has inherited its end, until it exits.
    func started() {
        close(mixerEnd)
        guard let socket = end.withLock({ $0 }) else { return }
        // Without a thread the mixer ends, as it could not connect.
        guard !WorkerThread(name: "mixer-broker", body: { self.serve(socket) }).hasStarted else { return }
        closeEnd()
    }

    /// Closes both ends after a failed start.
    func abandon() {
        close(mixerEnd)
        closeEnd()
    }

    /// Closes the connection, which ends the mixer.
    func hangUp() {
        end.withLock { if let socket = $0 { _ = shutdown(socket, Int32(SHUT_RDWR)) } }
    }

    private func closeEnd() {
        end.withLock { end in
            if let socket = end { close(socket) }
            end = nil
        }
    }

    private func serve(_ socket: Int32) {
        var (message, first, second) = (footlight_message(), Int32(-1), Int32(-1))
        var reported: [Refusal] = []
        while footlight_message_receive(socket, &message, &first, &second) == 1 {
            defer { for file in [first, second] where file >= 0 { close(file) } }
            var refusal: Refusal?
            switch Int(message.kind) {
            case FOOTLIGHT_CONNECT where first >= 0 && second >= 0:
                let target = withUnsafeBytes(of: message.address) {
                    SocketTarget(socketAddress: UnsafeRawBufferPointer(rebasing: $0[..<Int(message.address_length)]))
                }
                guard let target, targets.contains(target) else {
                    refusal = Refusal(call: Self.name(of: message.call), target: target, isFatal: true)
                    footlight_message_answer(second, -EACCES)
                    break
                }
                footlight_message_answer(second, footlight_message_connect(&message, first))
            case FOOTLIGHT_REFUSED, FOOTLIGHT_ENDED:
                let isFatal = Int(message.kind) == FOOTLIGHT_ENDED
                refusal = Refusal(call: Self.name(of: message.call), isFatal: isFatal)
            default: usleep(Self.penalty * 1_000)
            }
            guard let refusal else { continue }
            if reported.count < Self.maximumReported, !reported.contains(refusal) {
                reported.append(refusal)
                onRefusal(refusal)
            }
            usleep(Self.penalty * 1_000)
        }
        closeEnd()
    }

    private static func name(of call: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
            guard let start = text.baseAddress else { return "\(call)" }
            footlight_call_name(call, start, text.count)
            return String(cString: start)
        }
    }
}

/// An IP address with a port.
struct SocketTarget: Sendable, Hashable, CustomStringConvertible {
    /// The address as text, without brackets.
    let address: String
    let port: UInt16

    init(address: String, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// Reads a `sockaddr_in` or `sockaddr_in6`; nil for other families.
    init?(socketAddress bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= MemoryLayout<sockaddr_in>.size else { return nil }
        let family = Int32(bytes.loadUnaligned(as: sa_family_t.self))
        let offset: Int
        switch family {
        case AF_INET: offset = 4
        case AF_INET6 where bytes.count >= MemoryLayout<sockaddr_in6>.size: offset = 8
        default: return nil
        }
        port = UInt16(bytes[2]) << 8 | UInt16(bytes[3])
        let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
            inet_ntop(family, bytes.baseAddress.map { $0 + offset }, text.baseAddress, socklen_t(INET6_ADDRSTRLEN))
                .map { String(cString: $0) }
        }
        guard let text else { return nil }
        address = text
    }

    var description: String { address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)" }
}
