import Foundation
public import FootlightModel
import Media
public import Stage

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A sequence of events that reconnects; created by ``BroadcastClient/events(of:after:)``.
///
/// Each iterator has its own connection, which is closed with it.
public struct EventSequence: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = EventResource
    /// The error that ended the sequence.
    public typealias Failure = StageError

    let client: BroadcastClient
    let source: EventSource
    let revision: UInt64?

    /// Creates an iterator; the connection is opened with the first event that is requested.
    public func makeAsyncIterator() -> Iterator {
        Iterator(client: client, source: source, filter: RevisionFilter(known: revision))
    }

    /// An iterator over the events.
    public struct Iterator: AsyncIteratorProtocol {
        let client: BroadcastClient
        let source: EventSource
        var filter: RevisionFilter

        private var connection: EventConnection?
        private var signals: AsyncStream<StreamSignal>.Iterator?
        private var backoff: Backoff
        /// The tokens that were refused as expired since the stream last began.
        private var refusedTokens = 0
        private var isOver = false

        init(client: BroadcastClient, source: EventSource, filter: RevisionFilter) {
            self.client = client
            self.source = source
            self.filter = filter
            backoff = Backoff(client.limits)
        }

        /// Returns the next event; nil after the last one.
        ///
        /// - Throws: The gateway's refusal, or 499 if the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(StageError) -> EventResource? {
            while !isOver {
                if connection == nil {
                    _ = try await client.tokens?.token()
                    try open()
                }
                switch await signals?.next(isolation: actor) {
                case .began:
                    backoff.reset()
                    refusedTokens = 0
                case .event(let event):
                    if event.type == .sessionDisconnected, renewsToken(after: event.error?.code) {
                        connection = nil
                        continue
                    }
                    guard isNew(event) else { continue }
                    isOver = event.isLast
                    if isOver { connection = nil }
                    return event
                case .ended(let error):
                    connection = nil
                    if renewsToken(after: error.code) { continue }
                    guard error.isRetryable else { throw error }
                    let delay = Duration.seconds(
                        backoff.next(chance: client.clock.chance()) + Double(error.retryAfter ?? 0)
                    )
                    try await Self.pause(delay, client.clock)
                case nil:
                    connection = nil
                    throw .requestCancelled
                }
            }
            return nil
        }

        /// Returns the next event; nil after the last one.
        public mutating func next() async throws(StageError) -> EventResource? {
            try await next(isolation: nil)
        }

        private mutating func isNew(_ event: EventResource) -> Bool {
            // The stream of an identity mixes revisions of several rooms and replays nothing.
            source.isRoom ? filter.accepts(event) : event.type != .heartbeat
        }

        /// Discards a token that has expired; false if that is not the error, or the client has no other token.
        private mutating func renewsToken(after code: Int?) -> Bool {
            guard code == StageError.tokenExpired.code, let tokens = client.tokens,
                refusedTokens < TokenSource.maximumRenewals
            else { return false }
            refusedTokens += 1
            tokens.discard(client.token)
            return true
        }

        private mutating func open() throws(StageError) {
            // The stream of an identity has no snapshot, and a resumed stream may have no event to replay.
            let isFresh = filter.known == nil && source.isRoom
            let connection = try client.connect(
                to: source,
                after: source.isRoom ? filter.known : nil,
                startCondition: isFresh ? .snapshot : .anything
            )
            self.connection = connection
            signals = connection.signals.makeAsyncIterator()
        }

        private static func pause(_ delay: Duration, _ clock: ClientClock) async throws(StageError) {
            do {
                try await clock.sleep(delay)
            } catch {
                throw .requestCancelled
            }
        }
    }
}

extension EventSource {
    fileprivate var isRoom: Bool {
        if case .identity = self { false } else { true }
    }
}

extension EventResource {
    /// Whether the event ends the stream.
    fileprivate var isLast: Bool {
        switch type.value {
        case .roomEnded: true
        // A reader that was too slow, or for which there was no capacity, reconnects.
        case .sessionDisconnected: error?.retryable != true
        default: false
        }
    }
}

/// Event streams and custom events.
extension BroadcastClient {
    /// Returns the events of a room.
    ///
    /// The first event is `room.snapshot`, or the events after `revision` that the gateway still holds. A stream that
    /// breaks is reopened after the last event, with increasing delays, so that no event is lost or repeated. After a
    /// long interruption another snapshot follows instead. Heartbeats are omitted.
    ///
    /// The stream ends after `room.ended` and `session.disconnected`, or throws the gateway's refusal, such as 53106 or
    /// 20104; with a token provider it continues with a new token. The buffer for a slow reader is bounded; events that
    /// do not fit are requested again.
    public func events(of room: String, after revision: UInt64? = nil) -> EventSequence {
        EventSequence(client: self, source: .room(room), revision: revision)
    }

    /// Returns the events of an identity in any room: the invitations it sent or received, those that ring first.
    ///
    /// As ``events(of:after:)``, except that after an interruption the ringing invitations are repeated.
    ///
    /// - Parameter identity: The bearer's own identity, or any for an operator.
    public func events(ofIdentity identity: String) -> EventSequence {
        EventSequence(client: self, source: .identity(identity), revision: nil)
    }

    /// Sends a custom event to every participant of a room.
    ///
    /// The room's followers receive it as `custom.event`, in the order of all events; it is not stored.
    ///
    /// - Parameters:
    ///   - type: The event's type, `[A-Za-z0-9._-]{1,64}`.
    ///   - data: The event's data, up to 4 KiB as JSON.
    /// - Returns: The event as the followers receive it.
    /// - Throws: 3073 naming the field, 429 for too many events, 20106, 3035 for a bearer that has not joined, 3065,
    ///   53106.
    @discardableResult
    public func sendEvent(
        _ type: String,
        _ data: [String: AnyJSON] = [:],
        to room: String
    ) async throws(StageError) -> EventResource {
        try await command(.post, ["rooms", room, "events"], SendEventBody(type: type, data: data))
    }

    /// Opens a connection.
    ///
    /// - Parameter revision: The last known revision; later events are replayed.
    func connect(
        to source: EventSource,
        after revision: UInt64? = nil,
        startCondition: StreamStartCondition
    ) throws(StageError) -> EventConnection {
        var request =
            switch source {
            case .room(let room): try request(.get, ["rooms", room, "events"])
            case .session(let room, let participant, let sessionID):
                try request(
                    .get,
                    ["rooms", room, "events"],
                    query: [("participant", participant), ("session_id", sessionID)]
                )
            case .identity(let identity): try request(.get, ["events"], query: [("identity", identity)])
            }
        if let revision { request.setValue(String(revision), forHTTPHeaderField: "Last-Event-ID") }
        return EventConnection(request, startCondition: startCondition, limits: limits, clock: clock)
    }
}

/// Filters replayed events of a room: accepts only revisions higher than any before.
struct RevisionFilter: Sendable, Equatable {
    /// The highest revision; nil before the first event.
    private(set) var known: UInt64?

    init(known: UInt64? = nil) {
        self.known = known
    }

    /// Whether an event is accepted; heartbeats are not.
    mutating func accepts(_ event: EventResource) -> Bool {
        switch event.type.value {
        case .heartbeat: return false
        case .roomSnapshot:
            // A snapshot replaces the known state; after a restart of the gateway its revision may be lower.
            known = event.rev
            return true
        // Has no revision of its own, but that of the event before it.
        case .sessionDisconnected: return true
        default:
            guard known.map({ event.rev > $0 }) ?? true else { return false }
            known = event.rev
            return true
        }
    }
}
