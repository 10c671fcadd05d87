import AsyncHTTPClient
import Foundation
import FootlightModel
import NIOCore
import NIOHTTP1
import Stage
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A connection that carries server-sent events, from the request to its end.
///
/// The buffer is bounded: a reader that is too slow loses the connection but no event, because the next connection
/// replays what was missed. A monitor on the client's clock ends a dead connection. The connection also ends when it is
/// released.
///
/// It uses AsyncHTTPClient because URLSession's transport on Linux busy-waits while a stream is open.
final class EventConnection: Sendable {
    /// The signals of the stream; `ended` is the last one.
    let signals: AsyncStream<StreamSignal>

    private let stream: EventStreamReceiver
    private let transfer: Task<Void, Never>

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
        request.setValue("text/event-stream", forHTTPHeaderField: "Accept")
        request.setValue("no-store", forHTTPHeaderField: "Cache-Control")
        let stream = EventStreamReceiver(continuation, startCondition, limits, clock)
        self.stream = stream
        transfer = Task { [request] in
            await withTaskGroup { group in
                group.addTask { await stream.receive(request) }
                group.addTask { await stream.monitor() }
                // A stream that has ended needs no monitor, and one that is dead is not read.
                await group.next()
                group.cancelAll()
            }
        }
    }

    deinit {
        close()
    }

    /// Closes the connection; only buffered signals are delivered afterwards.
    func close() {
        stream.close()
        transfer.cancel()
    }
}

extension EventConnection {
    /// Receives one event stream, and passes on what arrives as signals.
    private final class EventStreamReceiver: Sendable {
        private struct State {
            var monitor: EventStreamMonitor
            var parser = ServerSentEventParser()
            var isBegun = false
            var isOver = false
        }

        /// The HTTP client of all streams of the process; it is never shut down.
        private static let http: HTTPClient = {
            // Neither a read timeout nor a deadline: the monitor decides when a silent connection is dead.
            var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
            // Each stream has a connection, which ends with it.
            configuration.httpVersion = .http1Only
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 10_000
            configuration.connectionPool.retryConnectionEstablishment = false
            return HTTPClient(configuration: configuration)
        }()

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

        /// Closes the connection without a final signal.
        func close() {
            state.withLock { $0.isOver = true }
            continuation.finish()
        }

        /// Sends the request, follows redirects, and receives the stream until its end.
        func receive(_ request: URLRequest) async {
            do {
                let response = try await response(to: request)
                guard response.status == .ok else { return end(try await Self.refusal(response)) }
                let now = clock.now()
                state.withLock { $0.monitor.opened(at: now) }
                for try await bytes in response.body {
                    receive(bytes)
                    if state.withLock({ $0.isOver }) { return }
                }
                end()
            } catch {
                // Name resolution, route, connection or certificate failed, or the connection broke.
                end()
            }
        }

        private func response(to request: URLRequest) async throws -> HTTPClientResponse {
            var request = request
            for _ in 0..<Redirect.maximumCount {
                let response = try await Self.http.execute(HTTPClientRequest(request), deadline: .distantFuture)
                let location = response.headers.first(name: "Location")
                let status = Int(response.status.code)
                guard let next = Redirect.next(after: request, status: status, location: location) else {
                    return response
                }
                request = next
            }
            return try await Self.http.execute(HTTPClientRequest(request), deadline: .distantFuture)
        }

        /// Returns the error of a response that is no stream, by the beginning of its body.
        private static func refusal(_ response: HTTPClientResponse) async throws -> StageError {
            var body = Data()
            do {
                for try await bytes in response.body {
                    body.append(contentsOf: bytes.readableBytesView.prefix(maximumRefusalBytes - body.count))
                    if body.count == maximumRefusalBytes { break }
                }
            } catch  where !body.isEmpty {
                // What has arrived says more than the broken connection.
            }
            let answer = ServerResponse(
                status: Int(response.status.code),
                retryAfter: response.headers.first(name: "Retry-After").flatMap { Int($0) },
                location: response.headers.first(name: "Location"),
                body: body
            )
            return .refusal(answer)
        }

        private func receive(_ bytes: ByteBuffer) {
            let now = clock.now()
            let events = state.withLock { state in
                state.monitor.received(at: now)
                return state.parser.parse(bytes.readableBytesView)
            }
            if startCondition == .anything { begin(at: now) }
            for event in events { hand(on: event, at: now) }
            if state.withLock({ $0.parser.isOverLimit }) { end() }
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

extension HTTPClientRequest {
    /// Creates a request without a body.
    fileprivate init(_ request: URLRequest) {
        self.init(url: request.url?.absoluteString ?? "")
        method = .init(rawValue: request.httpMethod ?? "GET")
        for (name, value) in request.allHTTPHeaderFields ?? [:] { headers.add(name: name, value: value) }
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
