import Foundation
import GatewayModel
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One subscription to a room's event stream over HTTP; ends when the connection does.
///
/// URLSession calls its delegate on a queue of the session's own, one call at a time.
final class RoomEvents: NSObject, URLSessionDataDelegate, Sendable {
    /// How the stream ended.
    enum End: Error, Equatable {
        case refused(status: Int)
        case lost(String)
        case silent
    }

    private struct State {
        var parser = ServerSentEvents()
        var status = 0
    }

    let events: AsyncThrowingStream<EventResource, any Error>
    private let continuation: AsyncThrowingStream<EventResource, any Error>.Continuation
    private let state = Mutex(State())

    private override init() {
        // The gateway cuts off a reader that lags by far fewer events than this.
        (events, continuation) = AsyncThrowingStream.makeStream(
            of: EventResource.self,
            bufferingPolicy: .bufferingOldest(16_384)
        )
        super.init()
    }

    /// Opens the stream.
    ///
    /// - Parameter silence: Seconds without a byte after which the connection is given up; heartbeats come every five.
    static func open(_ url: URL, token: String, silence: TimeInterval) -> RoomEvents {
        let reader = RoomEvents()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = silence
        let session = URLSession(configuration: configuration, delegate: reader, delegateQueue: nil)
        var request = URLRequest(url: url)
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        request.setValue("text/event-stream", forHTTPHeaderField: "Accept")
        let task = session.dataTask(with: request)
        reader.continuation.onTermination = { _ in
            task.cancel()
            session.finishTasksAndInvalidate()
        }
        task.resume()
        return reader
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        state.withLock { $0.status = status }
        if status == 200 {
            completionHandler(.allow)
        } else {
            continuation.finish(throwing: End.refused(status: status))
            completionHandler(.cancel)
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let complete = state.withLock { $0.parser.take(data) }
        for event in complete {
            // An event of a kind or shape that this version does not know changes nothing here.
            guard let resource = try? WireJSON.decode(EventResource.self, from: Data(event.data.utf8)) else { continue }
            continuation.yield(resource)
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        continuation.finish(throwing: error.map { End.lost("\($0)") } ?? End.lost("the gateway closed the stream"))
    }
}
