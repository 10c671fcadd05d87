import Foundation
import FootlightTesting
import Glibc
import Synchronization

/// A server of HTTP written out by hand: what it answers, and when it says nothing, is the test's to say.
final class WireServer: Sendable {
    /// What is done with one request.
    enum Answer: Sendable {
        /// The request is read and never answered.
        case silence
        /// A whole answer; the connection ends with it.
        case whole(status: Int, body: String)
        /// An event stream with these bytes to begin with; it stays open.
        case stream(String)
        /// The word to ask elsewhere.
        case redirect(status: Int, to: String)
    }

    /// A request's method and address, such as `GET /v1/rooms`.
    typealias Script = @Sendable (_ request: String) -> Answer

    let port: Int
    private let listener: Int32
    private let connections = Mutex<[Int32]>([])
    private let seen = Mutex<[(line: String, text: String)]>([])
    private let isOver = Atomic<Bool>(false)

    init(_ script: @escaping Script) throws {
        port = try FreePort.pick()
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isBound, listen(listener, 32) == 0 else { throw ToolFailure("cannot listen on \(port)") }
        Thread.detachNewThread { [weak self, listener] in
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0, let self, !self.isOver.load(ordering: .acquiring) else { return }
                self.connections.withLock { $0.append(descriptor) }
                Thread.detachNewThread { [weak self] in self?.serve(descriptor, script) }
            }
        }
    }

    deinit { close() }

    /// The requests so far.
    var requests: [String] { seen.withLock { $0.map(\.line) } }

    /// The requests so far with their fields and bodies.
    var texts: [String] { seen.withLock { $0.map(\.text) } }

    /// Ends the server and all its connections.
    func close() {
        guard !isOver.exchange(true, ordering: .acquiringAndReleasing) else { return }
        shutdown(listener, Int32(SHUT_RDWR))
        Glibc.close(listener)
        for descriptor in connections.withLock({ $0 }) {
            shutdown(descriptor, Int32(SHUT_RDWR))
            Glibc.close(descriptor)
        }
    }

    private func serve(_ descriptor: Int32, _ script: Script) {
        guard let text = Self.readRequest(descriptor) else { return }
        let line = text.split(separator: " ").prefix(2).joined(separator: " ")
        seen.withLock { $0.append((line, text)) }
        switch script(line) {
        case .silence: return
        case .whole(let status, let body):
            Self.write(
                "HTTP/1.1 \(status) X\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
                    + "Connection: close\r\n\r\n\(body)",
                to: descriptor
            )
            shutdown(descriptor, Int32(SHUT_WR))
        case .redirect(let status, let location):
            Self.write(
                "HTTP/1.1 \(status) X\r\nLocation: \(location)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                to: descriptor
            )
            shutdown(descriptor, Int32(SHUT_WR))
        case .stream(let beginning):
            Self.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n\(beginning)", to: descriptor)
        }
    }

    /// Reads a head and the body it announces.
    private static func readRequest(_ descriptor: Int32) -> String? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if let end = text.range(of: "\r\n\r\n") {
                let head = text[..<end.lowerBound]
                let length = head.split(separator: "\r\n")
                    .first { $0.lowercased().hasPrefix("content-length:") }
                    .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
                if text[end.upperBound...].utf8.count >= length ?? 0 {
                    return text
                }
            }
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
