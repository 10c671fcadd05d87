import FootlightTesting
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Gateway

@Suite("Broker of a mixer's connections", .serialized, .timeLimit(.minutes(1)))
struct MixerBrokerTests {
    private static let (connect, refused): (UInt32, UInt32) = (1, 2)

    /// A listener that accepts no connection.
    private let listener: ListeningSockets
    private let recorder = RefusalRecorder()

    private final class RefusalRecorder: Sendable {
        let refusals = Mutex<[MixerBroker.Refusal]>([])
    }

    private var port: Int { listener.ports[0] }

    init() throws { listener = try ListeningSockets(1) }

    /// Starts a broker; returns it with the mixer's end of its socket.
    private func broker() throws -> (broker: MixerBroker, end: Int32) {
        let target = SocketTarget(address: "127.0.0.1", port: UInt16(port))
        let broker = try MixerBroker(targets: [target]) { [recorder] refusal in
            recorder.refusals.withLock { $0.append(refusal) }
        }
        let end = fcntl(broker.mixerEnd, F_DUPFD_CLOEXEC, 0)
        broker.started()
        return (broker, end)
    }

    /// Makes a mixer's message: its kind, a system call, and an address.
    private func message(_ kind: UInt32, call: Int32 = 42, port: Int = 0, length: UInt32 = 16) -> [UInt8] {
        var bytes: [UInt8] = []
        withUnsafeBytes(of: kind) { bytes += $0 }
        withUnsafeBytes(of: call) { bytes += $0 }
        withUnsafeBytes(of: length) { bytes += $0 }
        withUnsafeBytes(of: UInt16(AF_INET)) { bytes += $0 }
        bytes += [UInt8(port >> 8), UInt8(port & 255), 127, 0, 0, 1]
        return bytes + [UInt8](repeating: 0, count: 140 - bytes.count)
    }

    /// Sends bytes with descriptors (`SCM_RIGHTS`).
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

    /// Requests a connection as a confined mixer does; returns the response, nil without one.
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

    @Test("ignores invalid messages, closes their descriptors, and serves the next message")
    func invalidMessages() async throws {
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
        #expect(recorder.refusals.withLock { $0 }.isEmpty)
    }

    @Test("a full pipe does not block the broker")
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

    @Test("refuses and reports a connection elsewhere; reports at most sixteen refusals")
    func refusals() async throws {
        let (broker, end) = try broker()
        defer { withExtendedLifetime(broker) { _ = close(end) } }
        #expect(try ask(port: 9, at: end) == -EACCES)
        #expect(try await eventually { recorder.refusals.withLock { $0.count } == 1 })
        let first = recorder.refusals.withLock { $0 }
        #expect(first.map(\.target) == [SocketTarget(address: "127.0.0.1", port: 9)] && first.first?.isFatal == true)
        for call in 0..<40 { send(message(Self.refused, call: Int32(call)), [], to: end) }
        #expect(try ask(port: port, at: end) == 0)
        let all = recorder.refusals.withLock { $0 }
        #expect(all.count == 16 && all.dropFirst().allSatisfy { !$0.isFatal && $0.target == nil }, "\(all.count)")
    }
}

@Suite("Socket addresses")
struct SocketTargetTests {
    @Test("parses an IPv4 address with port, and refuses shorter and other addresses")
    func addresses() {
        let four: [UInt8] = [UInt8(AF_INET), 0, 0x1F, 0x90, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]
        let target = four.withUnsafeBytes { SocketTarget(socketAddress: $0) }
        #expect(target == SocketTarget(address: "127.0.0.1", port: 8080) && target?.description == "127.0.0.1:8080")
        #expect(four.dropLast().withUnsafeBytes { SocketTarget(socketAddress: $0) } == nil)
        let local: [UInt8] = [UInt8(AF_UNIX), 0] + [UInt8](repeating: 47, count: 20)
        #expect(local.withUnsafeBytes { SocketTarget(socketAddress: $0) } == nil)
    }

    @Test("parses an IPv6 address with port")
    func six() {
        let start: [UInt8] = [UInt8(AF_INET6), 0, 0x07, 0x8F, 0, 0, 0, 0]
        let bytes = start + [UInt8](repeating: 0, count: 15) + [1] + [0, 0, 0, 0]
        let target = bytes.withUnsafeBytes { SocketTarget(socketAddress: $0) }
        #expect(target == SocketTarget(address: "::1", port: 1935) && target?.description == "[::1]:1935")
        #expect(bytes.dropLast().withUnsafeBytes { SocketTarget(socketAddress: $0) } == nil)
    }
}
