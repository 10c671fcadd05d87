public import Media
import Synchronization

/// The interface of the fan-out to the viewer counter: issues viewer session ids and records events.
///
/// Event loops call all methods; every method returns at once.
public protocol AudienceObserving: Sendable {
    /// Returns a new session id for a viewer of `room`.
    func makeSession(room: String) -> String
    /// Whether `sid` is a session id for `room` that this process or an earlier one issued.
    func accepts(sid: String, room: String) -> Bool
    /// Whether `sid` belongs to a verified viewer of `room` who is connected or was so a moment ago, so that a
    /// connection that presents it is admitted without a free slot.
    ///
    /// An open connection may be a lost one that is not closed yet, so it does not block a second one.
    func mayReturn(sid: String, room: String) -> Bool
    /// Records an event; never blocks, and a full queue never slows the caller.
    func record(_ event: AudienceEvent)
    /// Returns the session of a request; called before the response, with all that the request states.
    func admit(_ request: PlayerRequest, to room: String) -> ViewerAdmission
    /// Records what a media request reports about its player's state (CMCD).
    ///
    /// - Parameter sid: The session of the connection; nil where several sessions share it.
    func recordPlayerReport(_ request: PlayerRequest, in room: String, on sid: String?)
    /// Records media of `room` sent to a client on a connection that is not exclusive to one viewer's playlist
    /// requests.
    ///
    /// - Parameters:
    ///   - client: A `PeerAddress.account`.
    ///   - connection: The client's connection; nil if unknown, as in a log.
    ///   - time: The send time.
    func mediaServed(in room: String, to client: UInt64, over connection: UInt64?, at time: MonotonicTime)
    /// Raises the delay between an event and its log line; the delay never decreases.
    func logsLag(milliseconds: Int64)
    /// Whether the room's viewer limit admits a player.
    func hasFreeSlot(in room: String, for player: PlayerRequest) -> Bool
    /// Reserves a slot for a connection until the player counts as a viewer or is gone; nil when the room is full.
    func reserveSlot(in room: String, for player: PlayerRequest) -> ViewerSlot?
    /// The verified viewers without a connection of their own that this gateway serves: by HLS.
    ///
    /// Unverified sessions are excluded, so that requests alone take no slots.
    var requesters: Int { get }
    /// Returns the session counts of one client, a `PeerAddress.account`.
    func sessions(of client: UInt64) -> ClientSessions
    /// Whether not everyone may watch a room, so that no cache may answer for it.
    func isPrivate(_ room: String) -> Bool
    /// Returns why a player would not be admitted to a private room; nil if it would, or if everyone may watch.
    ///
    /// Called before anything is done for a player, such as starting a program; makes no session.
    func refusal(of request: PlayerRequest, to room: String) -> AccessRefusal?
    /// Records an open connection with a session id; a later one with the same id ends it if the id is of one device.
    ///
    /// - Parameter close: Closes the connection; called on any thread.
    /// - Returns: What is to be held for as long as the connection is open; nil if nothing is recorded.
    func connected(_ sid: String, to room: String, close: @escaping @Sendable () -> Void) -> ViewerSlot?
}

/// The session counts of one client.
public struct ClientSessions: Sendable, Equatable {
    /// Sessions that count as viewers, or did so a moment ago.
    public var watching: Int
    /// Sessions that are not verified yet.
    public var unproven: Int

    /// Creates the counts.
    public init(watching: Int = 0, unproven: Int = 0) {
        self.watching = watching
        self.unproven = unproven
    }
}

extension AudienceObserving {
    /// Returns 0.
    public var requesters: Int { 0 }

    /// Admits every player.
    public func hasFreeSlot(in room: String, for player: PlayerRequest) -> Bool { true }

    /// Returns an unlimited slot.
    public func reserveSlot(in room: String, for player: PlayerRequest) -> ViewerSlot? { .unlimited }

    /// Returns nil: everyone may watch.
    public func refusal(of request: PlayerRequest, to room: String) -> AccessRefusal? { nil }

    /// Records nothing.
    public func connected(_ sid: String, to room: String, close: @escaping @Sendable () -> Void) -> ViewerSlot? { nil }

    /// Returns false: everyone may watch.
    public func isPrivate(_ room: String) -> Bool { false }

    /// Returns zero counts.
    public func sessions(of client: UInt64) -> ClientSessions { ClientSessions() }

    /// Ignores media.
    public func mediaServed(in room: String, to client: UInt64, over connection: UInt64?, at time: MonotonicTime) {}

    /// Ignores log delays.
    public func logsLag(milliseconds: Int64) {}

    /// Ignores player reports.
    public func recordPlayerReport(_ request: PlayerRequest, in room: String, on sid: String?) {}

    /// Admits a request by its session id alone.
    public func admit(_ request: PlayerRequest, to room: String) -> ViewerAdmission {
        guard let sid = request.sid else { return .viewer(sid: makeSession(room: room)) }
        return accepts(sid: sid, room: room) ? .viewer(sid: sid) : .refused
    }
}

/// A viewer slot of a room with a viewer limit, reserved for a player that does not count as a viewer yet.
///
/// The slot is released once, at the latest on deinitialization. Any thread may release it.
public final class ViewerSlot: Sendable {
    private let isReleased = Atomic<Bool>(false)
    private let onRelease: @Sendable () -> Void

    /// Creates a slot.
    ///
    /// - Parameter release: Called once, when the slot is released.
    public init(onRelease: @escaping @Sendable () -> Void) {
        self.onRelease = onRelease
    }

    /// A slot of a room without a limit.
    public static let unlimited = ViewerSlot {}

    deinit { release() }

    /// Releases the slot: its player counts as a viewer now, or is gone.
    public func release() {
        guard !isReleased.exchange(true, ordering: .relaxed) else { return }
        onRelease()
    }
}
