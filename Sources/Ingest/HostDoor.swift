public import Logging
public import Media
import NIOCore
public import RTMP
public import Stage
import Synchronization

/// Lets hosts on stage: checks the stream key, sends the old connection of the same key away, and hands on the media of
/// those tracks that the stage wants.
public final class HostDoor: Sendable {
    private let stage: RoomDirectory
    private let configuration: IngestConfiguration
    private let logger: Logger
    private let feed: @Sendable (PublishGrant) -> any PacketSink

    /// A connection that publishes, or is being let in.
    private struct Open {
        let grant: PublishGrant
        let connection: RTMPConnection
        let received = ReceivedBytes()
    }

    private struct State {
        var wrongKeys: WrongKeyLedger
        var nextConnection: UInt64 = 1
        var open: [UInt64: Open] = [:]
    }

    private let state: Mutex<State>
    private let counters = IngestCounters()
    /// Held while one connection is let in, so that of two with the same key the one that the stage takes for the
    /// newer one also holds the feed.
    private let admission = Mutex(())

    /// - Parameter feed: Where the media of a host goes. Asked once per connection, and for a sink of its own: the
    ///   connection tells it `publisherChanged` once, and from then on what older connections send must be dropped.
    public init(
        stage: RoomDirectory,
        configuration: IngestConfiguration = IngestConfiguration(),
        logger: Logger,
        feed: @escaping @Sendable (PublishGrant) -> any PacketSink
    ) {
        self.stage = stage
        self.configuration = configuration
        self.logger = logger
        self.feed = feed
        state = Mutex(State(wrongKeys: WrongKeyLedger(perMinute: configuration.wrongKeysPerMinute)))
    }

    /// Whether a stream name looks like a stream key, and so is for this door.
    public static func isForHosts(_ name: String) -> Bool {
        name.hasPrefix("sk_")
    }

    /// Answers a connection that wants to publish with a stream key.
    ///
    /// On the connection's event loop.
    public func publish(_ request: PublishRequest, on connection: RTMPConnection) -> PublishVerdict {
        let address = Self.account(of: request.remoteAddress)
        let now = MonotonicTime.now()
        switch stage.authorizePublish(streamKey: request.name) {
        case .success(let grant):
            // A right key opens whatever its address did before: a guesser must not lock out a host behind the same
            // address, and 256 random bits are not guessed.
            return admit(grant, on: connection)
        case .failure(.unknownKey):
            let isShut = state.withLock { state in
                state.wrongKeys.noteWrongKey(from: address, now: now)
                return state.wrongKeys.isShut(address, now: now)
            }
            if isShut {
                logger.warning("too many wrong stream keys", metadata: ["address": "\(address)"])
                return .refuse(.publishDenied("too many wrong stream keys, wait a minute"), after: .zero)
            }
            return refuse(.unknownKey, address: address)
        case .failure(let refusal):
            return refuse(refusal, address: address)
        }
    }

    private func admit(_ grant: PublishGrant, on connection: RTMPConnection) -> PublishVerdict {
        guard let (number, received) = reserve(grant, connection) else {
            let error = StageError.trackCapacityReached("The gateway takes no more hosts at this time")
            logger.warning("publish refused", metadata: ["code": "\(error.code)", "identity": "\(grant.identity)"])
            stage.publishRefused(grant, because: error)
            return .refuse(.publishDenied(error.description), after: .zero)
        }
        let (outcome, sink) = admission.withLock { _ in
            let outcome = stage.publishBegan(grant, connection: number)
            if case .refused = outcome { return (outcome, nil as (any PacketSink)?) }
            let sink = feed(grant)
            sink.publisherChanged()
            return (outcome, sink)
        }
        switch (outcome, sink) {
        case (.refused(let refusal), _):
            forget(number)
            return refuse(refusal, address: Self.account(of: connection.remoteAddress))
        case (.accepted, nil):
            forget(number)
            return refuse(.roomEnded, address: Self.account(of: connection.remoteAddress))
        case (.accepted(let replaced), let sink?):
            if let replaced { sendAway(replaced, grant: grant) }
            var logger = logger
            logger[metadataKey: "room"] = "\(grant.room)"
            logger[metadataKey: "identity"] = "\(grant.identity)"
            logger[metadataKey: "source"] = "\(grant.source)"
            logger.info("host publishes", metadata: ["address": "\(Self.account(of: connection.remoteAddress))"])
            let publisher = HostPublisher(
                grant: grant,
                connection: number,
                stage: stage,
                feed: sink,
                counters: counters,
                received: received,
                configuration: configuration,
                logger: logger
            ) { [weak self] in
                self?.forget(number)
            }
            publisher.startWatching(on: connection.eventLoop)
            return .accept(publisher)
        }
    }

    /// The number of a connection that may try to publish; nil at the limit.
    ///
    /// Who takes an older connection of its own over finds a place in any case.
    private func reserve(
        _ grant: PublishGrant,
        _ connection: RTMPConnection
    ) -> (number: UInt64, received: ReceivedBytes)? {
        state.withLock { state in
            guard
                state.open.count < configuration.maximumPublishers
                    || state.open.values.contains(where: { $0.grant == grant })
            else { return nil }
            defer { state.nextConnection += 1 }
            let open = Open(grant: grant, connection: connection)
            state.open[state.nextConnection] = open
            return (state.nextConnection, open.received)
        }
    }

    /// What was counted so far.
    public var statistics: IngestStatistics {
        let open = state.withLock { $0.open }
        // Of two connections for the same, the older one is being sent away.
        let newest = Dictionary(open.sorted { $0.key < $1.key }.map { ($1.grant, $1.received) }) { $1 }
        let received = newest.map { grant, received in
            IngestStatistics.Received(
                room: grant.room,
                identity: grant.identity,
                source: grant.source,
                bytes: received.total
            )
        }
        return counters.snapshot(received, publishers: open.count)
    }

    /// Whose connection it is, as far as that is written down: of IPv6 the network, for in it one has many addresses.
    private static func account(of address: String?) -> String {
        address.map(PeerAddress.accountName(of:)) ?? "unknown"
    }

    private func refuse(_ refusal: PublishRefusal, address: String) -> PublishVerdict {
        logger.notice("publish refused", metadata: ["reason": "\(refusal)", "address": "\(address)"])
        switch refusal {
        case .unknownKey:
            return .refuse(.publishBadName("this stream key is not known"), after: configuration.wrongKeyDelay)
        case .wrongMode:
            return .refuse(.publishDenied("this participant is not a host"), after: .zero)
        case .roomEnded:
            return .refuse(.publishDenied("the room has ended"), after: .zero)
        case .quarantined:
            return .refuse(.publishDenied(refusal.error.description), after: .zero)
        }
    }

    /// Ends a publishing connection because a newer one with the same key took over.
    private func sendAway(_ number: UInt64, grant: PublishGrant) {
        guard let old = state.withLock({ $0.open[number]?.connection }) else { return }
        logger.notice("a newer connection took a host over", metadata: ["identity": "\(grant.identity)"])
        old.eventLoop.execute { old.end(.publishReplaced, reason: .replaced) }
    }

    /// Ends publishing connections by command, as when their room ends or their host leaves.
    ///
    /// Any thread.
    ///
    /// - Parameter isMeant: Picks the connections by what they publish.
    public func close(because reason: String, where isMeant: (PublishGrant) -> Bool) {
        let connections = state.withLock { state in
            state.open.values.filter { isMeant($0.grant) }.map(\.connection)
        }
        for connection in connections {
            connection.eventLoop.execute { connection.end(.publishFailed(reason), reason: .shutdown) }
        }
    }

    private func forget(_ number: UInt64) {
        _ = state.withLock { $0.open.removeValue(forKey: number) }
    }
}
