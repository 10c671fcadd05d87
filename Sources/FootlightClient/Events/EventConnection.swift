import Foundation
import FootlightModel
import Stage
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A connection that carries server-sent events, from the request to its end.
///
/// A URLSession data delegate receives the bytes. The buffer is bounded: a reader that is too slow loses the connection
/// but no event, because the next connection replays what was missed. A monitor on the client's clock ends a dead
/// connection. The connection also ends when it is released.
final class EventConnection: Sendable {
    /// The signals of the stream; `ended` is the last one.
    let signals: AsyncStream<StreamSignal>

    private let relay: DataDelegate
    private let timeoutTask: Task<Void, Never>

    /// Opens a connection.
    ///
    /// - Parameter startCondition: The event that must arrive within 5 s after the response has begun.
    init(_ request: URLRequest, startCondition: StreamStartCondition, limits: ClientLimits, clock: ClientClock) {
        let (signals, continuation) = AsyncStream.makeStream(
            of: StreamSignal.self,
            // Two more, so that the end always fits.
            bufferingPolicy: .bufferingOldest(limits.maximumQueuedEvents + 2)
        )
        self.signals = signals
        var request = request
        // The monitor decides when a silent connection is dead.
        request.timeoutInterval = 7 * 86_400
        request.setValue("text/event-stream", forHTTPHeaderField: "Accept")
        request.setValue("no-store", forHTTPHeaderField: "Cache-Control")
        let relay = DataDelegate(continuation, startCondition, limits, clock)
        self.relay = relay
        let session = URLSession(configuration: .plain, delegate: relay, delegateQueue: nil)
        let task = session.dataTask(with: request)
        task.resume()
        // The session is released with its only task.
        session.finishTasksAndInvalidate()
        timeoutTask = Task {
            await relay.monitor()
            Self.cancel(task, unlessEnded: relay)
        }
    }

    /// Cancels a task that does not complete by itself.
    ///
    /// The gateway closes a stream after its last event. On Linux, cancelling a URLSession task at the moment it
    /// completes crashes the process, so it is given time to complete.
    private static func cancel(_ task: URLSessionDataTask, unlessEnded relay: DataDelegate) {
        guard !relay.hasCompleted else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.5) {
            if !relay.hasCompleted { task.cancel() }
        }
    }

    deinit {
        close()
    }

    /// Closes the connection; only buffered signals are delivered afterwards.
    func close() {
        relay.close()
        timeoutTask.cancel()
    }
}

extension EventConnection {
    /// Receives the delegate calls on URLSession's queue.
    private final class DataDelegate: NSObject, URLSessionDataDelegate {
        private struct State {
            var monitor: EventStreamMonitor
            var parser = ServerSentEventParser()
            var isBegun = false
            var isOver = false
            /// Whether URLSession has completed the task.
            var hasCompleted = false
            /// The response that is not an event stream, with the beginning of its body.
            var refusal: ServerResponse?
        }

        private static let maximumRefusalBytes = 64 * 1024

        private let continuation: AsyncStream<StreamSignal>.Continuation
        private let startCondition: StreamStartCondition
        private let clock: ClientClock
        private let maximumSleep: Duration
        private let state: Mutex<State>

        init(
            _ continuation: AsyncStream<StreamSignal>.Continuation,
            _ startCondition: StreamStartCondition,
            _ limits: ClientLimits,
            _ clock: ClientClock
        ) {
            self.continuation = continuation
            self.startCondition = startCondition
            self.clock = clock
            maximumSleep = max(limits.firstEvent, .milliseconds(1))
            state = Mutex(State(monitor: EventStreamMonitor(limits, at: clock.now())))
        }

        /// Ends a dead connection; returns when the connection is over.
        func monitor() async {
            while true {
                let (isOver, deadline) = state.withLock { ($0.isOver, $0.monitor.deadline) }
                if isOver { return }
                if clock.now() >= deadline { return end() }
                do {
                    // At most this long, because the beginning of the response may shorten the deadline.
                    try await clock.sleep(until: min(deadline, clock.now() + maximumSleep))
                } catch {
                    return close()
                }
            }
        }

        var hasCompleted: Bool { state.withLock { $0.hasCompleted } }

        /// Closes the connection without a final signal.
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
            if next == nil { state.withLock { $0.refusal = ServerResponse(response, body: Data()) } }
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
                    state.monitor.opened(at: now)
                } else {
                    state.refusal =
                        response.map { ServerResponse($0, body: Data()) } ?? ServerResponse(status: 0, body: Data())
                }
            }
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            let now = clock.now()
            let events = state.withLock { state -> [ServerSentEvent]? in
                if let refusal = state.refusal {
                    let room = Self.maximumRefusalBytes - refusal.body.count
                    state.refusal?.body.append(data.prefix(max(room, 0)))
                    return nil
                }
                state.monitor.received(at: now)
                return state.parser.parse(data)
            }
            // The body of an error response does not prove a stream.
            guard let events else { return }
            if startCondition == .anything { begin(at: now) }
            for event in events { hand(on: event, at: now) }
            if state.withLock({ $0.parser.isOverLimit }) { end() }
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
            // An event that cannot be decoded, such as one of a later gateway version, is skipped.
            guard let value = try? WireJSON.decode(EventResource.self, from: Data(event.data.utf8)) else { return }
            if value.type == .roomSnapshot { begin(at: now) }
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
                state.monitor.began(at: now)
                return true
            }
            if isNew { continuation.yield(.began) }
        }

        /// Ends the connection; without an error the reason depends on whether the stream had begun.
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

/// Determines when an event stream counts as dead: no response, no first event, or silence.
///
/// Contains no timer: each call passes the time, and the owner checks again at `deadline`.
struct EventStreamMonitor: Sendable, Equatable {
    enum Stage: Sendable, Equatable {
        case connecting
        /// The response has begun; the start condition is not met yet.
        case opened
        case following
    }

    private let limits: ClientLimits
    private(set) var stage = Stage.connecting
    /// The time when the stream counts as dead unless something arrives.
    private(set) var deadline: Duration

    init(_ limits: ClientLimits, at now: Duration) {
        self.limits = limits
        deadline = now + limits.answer
    }

    /// Records that the response has begun.
    mutating func opened(at now: Duration) {
        guard stage == .connecting else { return }
        stage = .opened
        deadline = now + limits.firstEvent
    }

    /// Records that the start condition is met.
    mutating func began(at now: Duration) {
        stage = .following
        deadline = now + limits.silence
    }

    /// Records that bytes have arrived, including comments; without effect before the start condition is met.
    mutating func received(at now: Duration) {
        if stage == .following { deadline = now + limits.silence }
    }
}

/// The events that a connection carries.
enum EventSource: Sendable, Equatable {
    /// The events of a room, without a session.
    case room(String)
    /// The events of a room, for the session of a participant.
    case session(room: String, participant: String, sessionID: String)
    /// The events of an identity in any room.
    case identity(String)
}

/// The condition that an event stream must meet to count as started.
enum StreamStartCondition: Sendable {
    /// The room's snapshot has arrived.
    case snapshot
    /// Any byte has arrived: a stream that missed nothing replays nothing.
    case anything
}

/// A signal of an event connection.
enum StreamSignal: Sendable {
    /// The start condition is met; a snapshot follows as an event.
    case began
    case event(EventResource)
    /// The last signal: the gateway's refusal, 53000 for a stream that did not begin, or 53001 for one that broke.
    case ended(StageError)
}
