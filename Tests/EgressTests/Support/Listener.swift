import CNIOLinux
import Foundation
import Glibc
import Media
import Synchronization

@testable import Egress

/// A TCP server that takes connections and treats each as its script says; ended by `end`.
final class Listener: Sendable {
    struct Failure: Error {}

    let port: UInt16
    private let socket: Int32
    private let isEnded = Atomic<Bool>(false)
    private let accepted = Atomic<Int>(0)

    /// Connections taken so far.
    var connections: Int { accepted.load(ordering: .acquiring) }

    init() throws {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let any = NetworkAddress(ipv4: (127, 0, 0, 1), port: 0)
        guard any.withSocketAddress({ bind(socket, $0, $1) }) == 0, listen(socket, 16) == 0 else { throw Failure() }
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
        }
        self.socket = socket
        port = UInt16(bigEndian: address.sin_port)
    }

    /// Runs `script` for every connection, each on its own thread; the socket is closed afterwards.
    func serve(_ script: @escaping @Sendable (_ socket: Int32, _ isEnded: @escaping @Sendable () -> Bool) -> Void) {
        Thread.detachNewThread { [self] in
            while !ended() {
                var poller = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
                guard poll(&poller, 1, 50) > 0, !ended() else { continue }
                let peer = accept(socket, nil, nil)
                guard peer >= 0 else { continue }
                accepted.wrappingAdd(1, ordering: .acquiringAndReleasing)
                Thread.detachNewThread { [self] in
                    script(peer) { self.ended() }
                    close(peer)
                }
            }
        }
    }

    func end() {
        if !isEnded.exchange(true, ordering: .acquiringAndReleasing) { shutdown(socket, Int32(SHUT_RDWR)) }
    }

    deinit {
        end()
        close(socket)
    }

    private func ended() -> Bool { isEnded.load(ordering: .acquiring) }
}

/// The server's side of a publish, written out.
struct ServerTalk {
    let socket: Int32
    let isEnded: @Sendable () -> Bool
    /// All that has come, or what has come since something was waited for.
    private(set) var received: [UInt8] = []

    init(socket: Int32, isEnded: @escaping @Sendable () -> Bool) {
        self.socket = socket
        self.isEnded = isEnded
    }

    static func bigEndian(_ number: UInt32) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    /// From the handshake to the published stream; false when the peer does not go along.
    ///
    /// - Parameter last: The last command that is answered.
    mutating func acceptPublish(upTo last: String = "publish") -> Bool {
        guard wait(until: { $0.count >= 1537 }) else { return false }
        write([3] + [UInt8](repeating: 0, count: 1536) + received[1..<1537])
        for (command, result) in [("connect", "_result"), ("createStream", "_result"), ("publish", "onStatus")] {
            guard wait(until: { Self.transaction(of: command, in: $0) != nil }),
                let transaction = Self.transaction(of: command, in: received)
            else { return false }
            let code = command == "publish" ? "NetStream.Publish.Start" : "NetConnection.Connect.Success"
            let argument: [UInt8] =
                command == "createStream"
                ? [0, 0x3F, 0xF0, 0, 0, 0, 0, 0, 0]
                : [3] + key("level") + string("status") + key("code") + string(code) + [0, 0, 9]
            send(type: 20, chunkStream: 3, string(result) + transaction + [5] + argument)
            if command == last { return true }
        }
        return true
    }

    /// Sends a message of up to 128 bytes as one chunk.
    func send(type: UInt8, chunkStream: UInt8, _ body: [UInt8]) {
        write([chunkStream, 0, 0, 0, 0, 0, UInt8(body.count), type, 0, 0, 0, 0] + body)
    }

    /// Waits for bytes that were not received before this call.
    mutating func wait(for bytes: [UInt8]) -> Bool {
        received = []
        return wait { Data($0).range(of: Data(bytes)) != nil }
    }

    /// Listens until the peer hangs up; false when it does not.
    mutating func waitForEnd() -> Bool {
        _ = wait { _ in false }
        return !isEnded()
    }

    private mutating func wait(until isThere: ([UInt8]) -> Bool) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !isThere(received) {
            var poller = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard !isEnded() else { return false }
            guard poll(&poller, 1, 50) > 0 else { continue }
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { return false }
            received += buffer[..<count]
        }
        return true
    }

    /// The AMF0 number that follows a command's name.
    private static func transaction(of command: String, in bytes: [UInt8]) -> [UInt8]? {
        let data = Data(bytes)
        guard let name = data.range(of: Data([0, UInt8(command.utf8.count)] + command.utf8)) else { return nil }
        let number = data[name.upperBound...].prefix(9)
        return number.count == 9 ? Array(number) : nil
    }

    private func string(_ text: String) -> [UInt8] { [2] + key(text) }

    private func key(_ text: String) -> [UInt8] { [0, UInt8(text.utf8.count)] + text.utf8 }

    private func write(_ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }
}

enum Port {
    struct NeverOpened: Error {}

    /// A port that was free a moment ago.
    static func free() throws -> UInt16 {
        let listener = try Listener()
        defer { listener.end() }
        return listener.port
    }

    static func waitUntilOpen(_ port: UInt16) throws {
        let deadline = MonotonicTime.now().advanced(seconds: 20)
        guard let address = NetworkAddress(literal: "127.0.0.1", port: port) else { throw NeverOpened() }
        while MonotonicTime.now() < deadline {
            let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            defer { close(socket) }
            if address.withSocketAddress({ connect(socket, $0, $1) }) == 0 { return }
            usleep(20_000)
        }
        throw NeverOpened()
    }
}

/// The IPv4 addresses of this machine's interfaces, as the system's own call prints them.
enum Interfaces {
    static var addresses: [String] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var found: [String] = []
        var next = list
        while let interface = next {
            next = interface.pointee.ifa_next
            guard let address = interface.pointee.ifa_addr, Int32(address.pointee.sa_family) == AF_INET else {
                continue
            }
            var text = [CChar](repeating: 0, count: 1025)
            let length = socklen_t(MemoryLayout<sockaddr_in>.size)
            guard getnameinfo(address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else {
                continue
            }
            found.append(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        }
        return found
    }
}
