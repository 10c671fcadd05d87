import Foundation
import GatewayModel

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A client of server-sent events: hands out each block of lines as it comes.
final class EventClient: Sendable {
    struct Event {
        let id: String?
        let name: String?
        let data: EventResource?
        let retry: String?
        /// As it came.
        var text: String?
    }

    let events: AsyncStream<Event>
    private let chunks: AsyncStream<Data>.Continuation
    private let session: URLSession

    init(_ request: URLRequest) {
        let (stream, chunks) = AsyncStream.makeStream(of: Data.self)
        self.chunks = chunks
        let relay = Relay(chunks)
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

    /// Takes the bytes on URLSession's own queue.
    private final class Relay: NSObject, URLSessionDataDelegate {
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
