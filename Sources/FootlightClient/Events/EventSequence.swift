public import GatewayModel
public import Stage

/// Events that go on over broken connections; made by ``BroadcastClient/events(of:after:)``.
///
/// Each iterator opens a connection of its own, which ends with it.
public struct EventSequence: AsyncSequence, Sendable {
    /// What comes.
    public typealias Element = EventResource
    /// Why it ended.
    public typealias Failure = StageError

    let client: BroadcastClient
    let source: EventSource
    let revision: UInt64?

    /// Opens nothing before the first event is asked for.
    public func makeAsyncIterator() -> Iterator {
        Iterator(client: client, source: source, filter: RevisionFilter(known: revision))
    }

    /// One reader's place in the events.
    public struct Iterator: AsyncIteratorProtocol {
        let client: BroadcastClient
        let source: EventSource
        var filter: RevisionFilter

        private var connection: EventConnection?
        private var signals: AsyncStream<StreamSignal>.Iterator?
        private var backoff: Backoff
        private var isOver = false

        init(client: BroadcastClient, source: EventSource, filter: RevisionFilter) {
            self.client = client
            self.source = source
            self.filter = filter
            backoff = Backoff(client.limits)
        }

        /// The next event; nil after the last one.
        ///
        /// - Throws: The gateway's refusal, or 499 when the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(StageError) -> EventResource? {
            while !isOver {
                if connection == nil { try open() }
                switch await signals?.next(isolation: actor) {
                case .began: backoff.reset()
                case .event(let event):
                    guard isNews(event) else { continue }
                    isOver = event.isLast
                    if isOver { connection = nil }
                    return event
                case .ended(let error):
                    connection = nil
                    guard error.isRetryable else { throw error }
                    let delay = backoff.next(chance: client.clock.chance()) + .seconds(error.retryAfter ?? 0)
                    try await Self.pause(delay, client.clock)
                case nil:
                    connection = nil
                    throw .requestCancelled
                }
            }
            return nil
        }

        /// The next event; nil after the last one.
        public mutating func next() async throws(StageError) -> EventResource? {
            try await next(isolation: nil)
        }

        private mutating func isNews(_ event: EventResource) -> Bool {
            // In an identity's stream the revisions are those of several rooms, and nothing is replayed.
            source.isRoom ? filter.takes(event) : event.type != StageEvent.Name.heartbeat.rawValue
        }

        private mutating func open() throws(StageError) {
            // An identity's stream has no snapshot, and a stream that is taken up again may have nothing to tell.
            let isFresh = filter.known == nil && source.isRoom
            let connection = try client.connect(
                to: source,
                after: source.isRoom ? filter.known : nil,
                beginning: isFresh ? .snapshot : .anything
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
    /// Whether a stream ends with it.
    fileprivate var isLast: Bool {
        switch StageEvent.Name(rawValue: type) {
        case .roomEnded: true
        // One that was too slow, or for whom there was no place, comes back.
        case .sessionDisconnected: error?.retryable != true
        default: false
        }
    }
}
