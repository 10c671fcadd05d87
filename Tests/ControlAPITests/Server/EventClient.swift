import Foundation
import FootlightModel

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A client of server-sent events that emits each block of lines.
final class EventClient: Sendable {
    struct Event {
        let id: String?
        let name: String?
        let data: EventResource?
        let retry: String?
        /// The undecoded data.
        var text: String?
    }

    let events: AsyncStream<Event>
    private let chunks: AsyncStream<Data>.Continuation
    private let session: URLSession

    init(_ request: URLRequest) {
        let (stream, chunks) = AsyncStream.makeStream(of: Data.self)
        self.chunks = chunks
        let relay = DataDelegate(chunks)
        session = URLSession(configuration: .ephemeral, delegate: relay, delegateQueue: nil)
        events = AsyncStream { continuation in
            let reading = Task {
                var buffer = ""
                for await chunk in stream {
                    buffer += String(decoding: chunk, as: UTF8.self)
                    while let end = buffer.range(of: "\n\n") {
                        continuation.yield(Self.parse(buffer[..<end.lowerBound]))
                        buffer.removeSubrange(..<end.upperBound)
                    }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in reading.cancel() }
        }
        session.dataTask(with: request).resume()
    }

    deinit {
        close()
    }

    func close() {
        session.invalidateAndCancel()
        chunks.finish()
    }

    private static func parse(_ block: Substring) -> Event {
        var fields: [String: String] = [:]
        for line in block.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            fields[String(parts[0])] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        return Event(
            id: fields["id"],
            name: fields["event"],
            data: fields["data"].flatMap { try? WireJSON.decode(EventResource.self, from: Data($0.utf8)) },
            retry: fields["retry"],
            text: fields["data"]
        )
    }

    /// Receives the bytes on URLSession's queue.
    private final class DataDelegate: NSObject, URLSessionDataDelegate {
        private let chunks: AsyncStream<Data>.Continuation

        init(_ chunks: AsyncStream<Data>.Continuation) {
            self.chunks = chunks
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            chunks.yield(data)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            chunks.finish()
        }
    }
}

/// An HTTP client on a plain socket that sends a request and reads only on demand.
final class NonReadingHTTPClient {
    struct Failure: Error {
        let number: Int32
    }

    private let descriptor: Int32

    init(port: Int, path: String, token: String) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(number: errno) }
        // No read waits longer than this, so that a hung test ends.
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Failure(number: errno) }
        let request = "GET \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n\r\n"
        let sent = Array(request.utf8).withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, 0) }
        guard sent == request.utf8.count else { throw Failure(number: errno) }
    }

    deinit {
        close(descriptor)
    }

    /// Reads the first bytes that arrive.
    ///
    /// Non-blocking, because the server may run on the calling thread.
    func readSome() async throws -> String {
        var buffer = [UInt8](repeating: 0, count: 1 << 12)
        for _ in 0..<10_000 {
            let count = buffer.withUnsafeMutableBytes {
                recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
            }
            if count >= 0 { return String(decoding: buffer[..<count], as: UTF8.self) }
            guard errno == EAGAIN || errno == EINTR else { throw Failure(number: errno) }
            try await Task.sleep(for: .milliseconds(1))
        }
        throw Failure(number: ETIMEDOUT)
    }

    /// Reads until the server closes the connection.
    func readToEnd() throws -> String {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
            if count == 0 { break }
            guard count > 0 else { throw Failure(number: errno) }
            all += buffer[..<count]
        }
        return String(decoding: all, as: UTF8.self)
    }
}
