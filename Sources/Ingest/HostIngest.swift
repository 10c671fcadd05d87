public import Logging
public import Media
import NIOCore
public import RTMP
public import Stage
import Synchronization

/// Accepts hosts: checks the stream key, closes an older connection with the same key, and forwards the media of the
/// tracks that the stage allows.
public final class HostIngest: Sendable {
    private let stage: RoomDirectory
    private let configuration: IngestConfiguration
    private let logger: Logger
    private let authorize: @Sendable (_ streamKey: String) -> Result<PublishGrant, PublishRefusal>
    private let feed: @Sendable (PublishGrant) -> any PacketSink

    /// A connection that publishes or is being accepted.
    private struct OpenConnection {
        let grant: PublishGrant
        let connection: RTMPConnection
        let received = ReceivedByteCounter()
    }

    private struct State {
        /// Counts the wrong stream keys of each address.
        var keyAttempts: RateLimiter<String>
        var nextConnection: UInt64 = 1
        var open: [UInt64: OpenConnection] = [:]
    }

    private let state: Mutex<State>
    private let counters = IngestCounters()
    /// Locked while a connection is accepted, so that of two with the same key, the one that the stage considers newer
    /// also owns the feed.
    private let admission = Mutex(())

    /// - Parameters:
    ///   - authorize: Decides on a stream key, on an event loop; by the keys of the rooms' participants if nil.
    ///   - feed: Returns the sink for a host's media; called once per connection. The connection calls
    ///     `publisherChanged` on it once, after which packets of older connections must be dropped.
    public init(
        stage: RoomDirectory,
        configuration: IngestConfiguration = IngestConfiguration(),
        logger: Logger,
        authorize: (@Sendable (_ streamKey: String) -> Result<PublishGrant, PublishRefusal>)? = nil,
        feed: @escaping @Sendable (PublishGrant) -> any PacketSink
    ) {
        self.stage = stage
        self.configuration = configuration
        self.logger = logger
        self.authorize = authorize ?? { stage.authorizePublish(streamKey: $0) }
        self.feed = feed
        let perMinute = Double(configuration.wrongKeysPerMinute)
        // The last wrong key of a minute is over the limit.
        let attempts = RateLimiter<String>(perSecond: perMinute / 60, burst: perMinute.nextDown, capacity: 4096)
        state = Mutex(State(keyAttempts: attempts))
    }

    /// Returns whether a stream name has the prefix of stream keys.
    public static func isStreamKey(_ name: String) -> Bool {
        name.hasPrefix("sk_")
    }

    /// Authorizes a connection that publishes with a stream key.
    ///
    /// Called on the connection's event loop.
    public func publish(_ request: PublishRequest, on connection: RTMPConnection) -> PublishVerdict {
        connection.eventLoop.assertInEventLoop()
        let address = Self.account(of: request.remoteAddress)
        let now = MonotonicTime.now()
        switch authorize(request.name) {
        case .success(let grant):
            // A valid key is accepted regardless of earlier failures from its address, so that an attacker cannot lock
            // out a host behind the same address; 256 random bits cannot be guessed.
            return admit(grant, on: connection)
        case .failure(.unknownKey):
            if !state.withLock({ $0.keyAttempts.chargeRequest(to: address, now: now) }) {
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
            let error = StageError.trackCapacityReached("The gateway accepts no more hosts at this time")
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
            removeConnection(number)
            return refuse(refusal, address: Self.account(of: connection.remoteAddress))
        case (.accepted, nil):
            removeConnection(number)
            return refuse(.roomEnded, address: Self.account(of: connection.remoteAddress))
        case (.accepted(let replaced), let sink?):
            if let replaced { disconnect(replaced, grant: grant) }
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
                self?.removeConnection(number)
            }
            publisher.startMonitoring(on: connection.eventLoop)
            return .accept(publisher)
        }
    }

    /// Reserves the number of a connection that publishes; nil at the limit.
    ///
    /// A takeover of the host's own connection is always allowed.
    private func reserve(
        _ grant: PublishGrant,
        _ connection: RTMPConnection
    ) -> (number: UInt64, received: ReceivedByteCounter)? {
        state.withLock { state in
            guard
                state.open.count < configuration.maximumPublishers
                    || state.open.values.contains(where: { $0.grant == grant })
            else { return nil }
            defer { state.nextConnection += 1 }
            let open = OpenConnection(grant: grant, connection: connection)
            state.open[state.nextConnection] = open
            return (state.nextConnection, open.received)
        }
    }

    /// The current counters.
    public var statistics: IngestStatistics {
        let open = state.withLock { $0.open }
        // Of two connections with the same grant, the older one is being closed.
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

    /// Returns the account name of an address; for IPv6 its network, in which a client has many addresses.
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
        case .quarantined, .closed:
            return .refuse(.publishDenied(refusal.error.description), after: .zero)
        }
    }

    /// Ends a publishing connection because a newer one with the same key replaced it.
    private func disconnect(_ number: UInt64, grant: PublishGrant) {
        guard let old = state.withLock({ $0.open[number]?.connection }) else { return }
        logger.notice("host connection replaced by a newer one", metadata: ["identity": "\(grant.identity)"])
        old.eventLoop.execute { old.end(.publishReplaced, reason: .replaced) }
    }

    /// Ends publishing connections, such as when their room ends or their host leaves.
    ///
    /// Thread-safe.
    ///
    /// - Parameter isSelected: Selects the connections by their grants.
    public func close(because reason: String, where isSelected: (PublishGrant) -> Bool) {
        let connections = state.withLock { state in
            state.open.values.filter { isSelected($0.grant) }.map(\.connection)
        }
        for connection in connections {
            connection.eventLoop.execute { connection.end(.publishFailed(reason), reason: .shutdown) }
        }
    }

    private func removeConnection(_ number: UInt64) {
        _ = state.withLock { $0.open.removeValue(forKey: number) }
    }
}
