import Foundation
import GatewayModel
import Stage
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One connection that carries server-sent events, from the request to its end.
///
/// Bytes come by a URLSession data delegate, as they arrive. What waits for its reader is bounded: a reader that is too
/// slow loses the connection, not an event, for what it missed is replayed by the next one. A watch on the client's
/// clock ends a connection that is dead. Ends with the value, too.
final class EventConnection: Sendable {
    /// What is heard; `ended` comes last, and once.
    let signals: AsyncStream<StreamSignal>

    private let relay: Relay
    private let watching: Task<Void, Never>

    /// Opens a connection.
    ///
    /// - Parameter beginning: What is to come within 5 s after the answer has begun.
    init(_ request: URLRequest, beginning: StreamBeginning, limits: ClientLimits, clock: ClientClock) {
        let (signals, continuation) = AsyncStream.makeStream(
            of: StreamSignal.self,
            // Two more, so that the end always finds a place.
            bufferingPolicy: .bufferingOldest(limits.waitingEvents + 2)
        )
        self.signals = signals
        var request = request
        // Silence is the watch's to judge.
        request.timeoutInterval = 7 * 86_400
        request.setValue("text/event-stream", forHTTPHeaderField: "Accept")
        request.setValue("no-store", forHTTPHeaderField: "Cache-Control")
        let relay = Relay(continuation, beginning, limits, clock)
        self.relay = relay
        let session = URLSession(configuration: .plain, delegate: relay, delegateQueue: nil)
        let task = session.dataTask(with: request)
        task.resume()
        // The session goes with its one task.
        session.finishTasksAndInvalidate()
        watching = Task {
            await relay.watch()
            Self.cancel(task, unlessEnded: relay)
        }
    }

    /// Cancels a task that does not end by itself now that it is over.
    ///
    /// A stream that has told of its end is being closed by the gateway as well. On Linux URLSession brings the process
    /// down when a task is cancelled in the very moment in which it ends, so that is given time.
    private static func cancel(_ task: URLSessionDataTask, unlessEnded relay: Relay) {
        guard !relay.hasCompleted else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.5) {
            if !relay.hasCompleted { task.cancel() }
        }
    }

    deinit {
        close()
    }

    /// Ends the connection; no signal comes any more but those that wait.
    func close() {
        relay.close()
        watching.cancel()
    }
}

extension EventConnection {
    /// Takes what comes on URLSession's own queue.
    private final class Relay: NSObject, URLSessionDataDelegate {
        private struct State {
            var watch: StreamWatch
            var parser = ServerSentEventParser()
            var isBegun = false
            var isOver = false
            /// URLSession has nothing more to tell.
            var hasCompleted = false
            /// The status of an answer that is no stream, and its body as far as it is of use.
            var refusal: HTTPAnswer?
        }

        private static let largestRefusal = 64 * 1024

        private let continuation: AsyncStream<StreamSignal>.Continuation
        private let beginning: StreamBeginning
        private let clock: ClientClock
        private let longestSleep: Duration
        private let state: Mutex<State>

        init(
            _ continuation: AsyncStream<StreamSignal>.Continuation,
            _ beginning: StreamBeginning,
            _ limits: ClientLimits,
            _ clock: ClientClock
        ) {
            self.continuation = continuation
            self.beginning = beginning
            self.clock = clock
            longestSleep = max(limits.firstEvent, .milliseconds(1))
            state = Mutex(State(watch: StreamWatch(limits, at: clock.now())))
        }

        /// Returns when the connection is over.
        func watch() async {
            while true {
                let (isOver, deadline) = state.withLock { ($0.isOver, $0.watch.deadline) }
                if isOver { return }
                if clock.now() >= deadline { return end() }
                do {
                    // Not longer than this, so that a deadline which the beginning of the answer moves closer is kept.
                    try await clock.sleep(until: min(deadline, clock.now() + longestSleep))
                } catch {
                    return close()
                }
            }
        }

        var hasCompleted: Bool { state.withLock { $0.hasCompleted } }

        /// Nobody wants to hear any more.
        func close() {
            state.withLock { $0.isOver = true }
            continuation.finish()
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            let location = response.value(forHTTPHeaderField: "Location")
            let next = task.currentRequest.flatMap {
                Redirect.next(after: $0, status: response.statusCode, location: location)
            }
            if next == nil { state.withLock { $0.refusal = HTTPAnswer(response, body: Data()) } }
            completionHandler(next)
        }

        func urlSession(
            _ session: URLSession,
            dataTask: URLSessionDataTask,
            didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            let response = response as? HTTPURLResponse
            let now = clock.now()
            state.withLock { state in
                if response?.statusCode == 200 {
                    state.watch.opened(at: now)
                } else {
                    state.refusal = response.map { HTTPAnswer($0, body: Data()) } ?? HTTPAnswer(status: 0, body: Data())
                }
            }
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            let now = clock.now()
            let events = state.withLock { state -> [ServerSentEvent]? in
                if let refusal = state.refusal {
                    let room = Self.largestRefusal - refusal.body.count
                    state.refusal?.body.append(data.prefix(max(room, 0)))
                    return nil
                }
                state.watch.heard(at: now)
                return state.parser.take(data)
            }
            // The body of a refusal is no sign of a stream.
            guard let events else { return }
            if beginning == .anything { begin(at: now) }
            for event in events { hand(on: event, at: now) }
            if state.withLock({ $0.parser.isOverflown }) { end() }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            let refusal = state.withLock { state in
                state.hasCompleted = true
                return state.refusal
            }
            if let refusal, error == nil || !refusal.body.isEmpty {
                end(.refusal(refusal))
            } else {
                end()
            }
        }

        private func hand(on event: ServerSentEvent, at now: Duration) {
            // An event of a later version of the gateway, which this one cannot read, is passed over.
            guard let value = try? WireJSON.decode(EventResource.self, from: Data(event.data.utf8)) else { return }
            if value.type == StageEvent.Name.roomSnapshot.rawValue { begin(at: now) }
            guard state.withLock({ !$0.isOver }) else { return }
            switch continuation.yield(.event(value)) {
            case .enqueued(let remaining) where remaining < 2: end()
            default: break
            }
        }

        private func begin(at now: Duration) {
            let isNew = state.withLock { state in
                guard !state.isOver, !state.isBegun else { return false }
                state.isBegun = true
                state.watch.began(at: now)
                return true
            }
            if isNew { continuation.yield(.began) }
        }

        /// The connection is over; without an error it is what the stage of the stream says.
        private func end(_ error: StageError? = nil) {
            let isBegun = state.withLock { state -> Bool? in
                guard !state.isOver else { return nil }
                state.isOver = true
                return state.isBegun
            }
            guard let isBegun else { return }
            continuation.yield(.ended(error ?? (isBegun ? .callConnectionLost : .callNotConnected)))
            continuation.finish()
        }
    }
}
