import FootlightTesting
import Foundation
@testable import Gateway
import Glibc
import Synchronization
import Testing

@Suite("What connects the sockets of a mixer", .serialized, .timeLimit(.minutes(1)))
struct MixerBrokerTests {
    private static let (connect, refused): (UInt32, UInt32) = (1, 2)

    /// Listens, and takes nobody.
    private let listener: KeptSockets
    private let told = Told()

    private final class Told: Sendable {
        let refusals = Mutex<[MixerBroker.Refusal]>([])
    }

    private var port: Int { listener.ports[0] }

    init() throws { listener = try KeptSockets(1) }

    /// A broker at work, and the mixer's end of its socket.
    private func broker() throws -> (broker: MixerBroker, end: Int32) {
        let target = SocketTarget(address: "127.0.0.1", port: UInt16(port))
        let broker = try MixerBroker(targets: [target]) { [told] refusal in
            told.refusals.withLock { $0.append(refusal) }
        }
        let end = fcntl(broker.mixerEnd, F_DUPFD_CLOEXEC, 0)
        broker.started()
        return (broker, end)
    }

    /// A message as a mixer sends it: its kind, a system call, and an address.
    private func message(_ kind: UInt32, call: Int32 = 42, port: Int = 0, length: UInt32 = 16) -> [UInt8] {
        var bytes: [UInt8] = []
        withUnsafeBytes(of: kind) { bytes += $0 }
        withUnsafeBytes(of: call) { bytes += $0 }
        withUnsafeBytes(of: length) { bytes += $0 }
        withUnsafeBytes(of: UInt16(AF_INET)) { bytes += $0 }
        bytes += [UInt8(port >> 8), UInt8(port & 255), 127, 0, 0, 1]
        return bytes + [UInt8](repeating: 0, count: 140 - bytes.count)
    }

    /// Sends bytes with descriptors beside them (`SCM_RIGHTS`).
    private func send(_ bytes: [UInt8], _ files: [Int32], to end: Int32) {
        var control: [UInt8] = []
        if !files.isEmpty {
            withUnsafeBytes(of: MemoryLayout<cmsghdr>.size + 4 * files.count) { control += $0 }
            withUnsafeBytes(of: (SOL_SOCKET, Int32(SCM_RIGHTS))) { control += $0 }
            for file in files { withUnsafeBytes(of: file) { control += $0 } }
            control += [UInt8](repeating: 0, count: (8 - control.count % 8) % 8)
        }
        var bytes = bytes
        let count = control.count
        let sent = bytes.withUnsafeMutableBytes { data in
            control.withUnsafeMutableBytes { control in
                var part = iovec(iov_base: data.baseAddress, iov_len: data.count)
                return withUnsafeMutablePointer(to: &part) { part in
                    var whole = msghdr()
                    whole.msg_iov = part
                    whole.msg_iovlen = 1
                    whole.msg_control = count > 0 ? control.baseAddress : nil
                    whole.msg_controllen = count
                    return sendmsg(end, &whole, Int32(MSG_NOSIGNAL))
                }
            }
        }
        #expect(sent == bytes.count)
    }

    /// Asks for a connection as a confined mixer does, and returns the answer; nil when none comes.
    private func ask(port: Int, at end: Int32) throws -> Int32? {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var pipes: [Int32] = [0, 0]
        try #require(socket >= 0 && pipe(&pipes) == 0)
        defer { for file in [socket, pipes[0]] { close(file) } }
        send(message(Self.connect, port: port), [socket, pipes[1]], to: end)
        close(pipes[1])
        var answer = Int32(1)
        return read(pipes[0], &answer, 4) == 4 ? answer : nil
    }

    private var openFiles: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }

    @Test("Messages that are none are passed over, what came with them is closed, and the next one is served")
    func nonsense() async throws {
        let (broker, end) = try broker()
        defer { withExtendedLifetime(broker) { _ = close(end) } }
        #expect(try ask(port: port, at: end) == 0)
        let before = openFiles
        var spare: [Int32] = [0, 0]
        #expect(pipe(&spare) == 0)
        defer { for file in spare { close(file) } }
        send(message(Self.connect, port: port), [], to: end)
        send(message(Self.connect, port: port), [spare[0]], to: end)
        send(message(Self.connect, port: port), spare + spare, to: end)
        send(Array(message(Self.connect).dropLast()), spare, to: end)
        send(message(Self.connect, length: .max), spare, to: end)
        send(message(99), spare, to: end)
        send([1], spare, to: end)
        #expect(try ask(port: port, at: end) == 0)
        #expect(try await eventually { openFiles <= before + 2 }, "\(openFiles), \(before) before")
        #expect(told.refusals.withLock { $0 }.isEmpty)
    }

    @Test("A pipe that is full does not hold it up")
    func fullPipe() throws {
        let (broker, end) = try broker()
        defer { withExtendedLifetime(broker) { _ = close(end) } }
        var pipes: [Int32] = [0, 0]
        try #require(pipe(&pipes) == 0 && fcntl(pipes[1], F_SETFL, O_NONBLOCK) == 0)
        let piece = [UInt8](repeating: 0, count: 4096)
        while write(pipes[1], piece, piece.count) > 0 {}
        #expect(fcntl(pipes[1], F_SETFL, 0) == 0)
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        send(message(Self.connect, port: port), [socket, pipes[1]], to: end)
        #expect(try ask(port: port, at: end) == 0)
        for file in pipes + [socket] { close(file) }
    }

    @Test("A connection elsewhere is refused and told with its address; of a flood of refusals sixteen are told")
    func refusals() async throws {
        let (broker, end) = try broker()
        defer { withExtendedLifetime(broker) { _ = close(end) } }
        #expect(try ask(port: 9, at: end) == -EACCES)
        #expect(try await eventually { told.refusals.withLock { $0.count } == 1 })
        let first = told.refusals.withLock { $0 }
        #expect(first.map(\.target) == [SocketTarget(address: "127.0.0.1", port: 9)] && first.first?.isFatal == true)
        for call in 0..<40 { send(message(Self.refused, call: Int32(call)), [], to: end) }
        #expect(try ask(port: port, at: end) == 0)
        let all = told.refusals.withLock { $0 }
        #expect(all.count == 16 && all.dropFirst().allSatisfy { !$0.isFatal && $0.target == nil }, "\(all.count)")
    }
}
