public import Media
import NIOCore
import Stage

/// How the requests of a connection are transported.
public enum HTTPTransport: Sendable {
    /// HTTP/1.1 in clear.
    case http1
    /// HTTP/1.1 over TLS.
    case http1OverTLS
    /// HTTP/2 over TLS; the request has a channel of its own, a stream of the connection.
    case http2

    /// The name of the last handler of TLS in the pipeline of a connection.
    public static let tlsHandlerName = "tls"
}

/// What the requests of one connection share: its slot among its client's connections, and the viewer that its media
/// files are attributed to.
///
/// Used on the connection's event loop. Over HTTP/2, all streams of a connection share one instance.
public final class MediaConnection {
    /// The viewer that segments on this connection are attributed to.
    var viewer = ConnectionViewer.unknown
    private let number = UInt64.random(in: .min ... .max)
    private var slot: ClientSlot?
    private var peer: String?
    /// The bytes of responses that are not written to the socket yet.
    private var pendingBytes = 0
    /// What to call when `isFull` becomes false, by the handler whose requests wait.
    private var waiting: [ObjectIdentifier: () -> Void] = [:]

    /// The pending bytes from which on no further request is answered.
    ///
    /// Plain responses share their bytes; TLS makes a copy for each connection, and HTTP/2 allows many responses at once
    /// to a client that reads none.
    private static let largestPending = 2 << 20

    /// Creates the state of a new connection.
    ///
    /// - Parameter slot: The connection's slot among its client's; released early if the client turns out to be a
    ///   proxy.
    public init(slot: ClientSlot? = nil) {
        self.slot = slot
    }

    /// Identifies the connection among those of its client; a connection of several viewers gets a new id per file.
    var id: UInt64 {
        if case .shared = viewer { UInt64.random(in: .min ... .max) } else { number }
    }

    /// Returns the numeric address of the peer; nil if unknown.
    ///
    /// Formatted once. Asked of the channel, because a stream of HTTP/2 traps when its context is asked.
    func peer(of channel: any Channel) -> String? {
        if peer == nil { peer = channel.remoteAddress?.ipAddress }
        return peer
    }

    // MARK: Pending responses

    /// Whether the client must read before another request is answered.
    var isFull: Bool { pendingBytes >= Self.largestPending }

    /// Records the start of a response.
    func began(_ bytes: Int) {
        pendingBytes += bytes
    }

    /// Records that a response was written, or that it cannot be.
    func completed(_ bytes: Int) {
        pendingBytes -= bytes
        guard !isFull, !waiting.isEmpty else { return }
        let calls = waiting.values
        waiting = [:]
        for call in calls { call() }
    }

    /// Calls a closure when `isFull` becomes false; nil removes that of the handler.
    func whenNotFull(_ handler: ObjectIdentifier, _ call: (() -> Void)?) {
        waiting[handler] = call
    }

    // MARK: Slot

    /// Releases the slot: a proxy on this machine opens connections for many clients.
    func leaveSlot() {
        slot?.leave()
        slot = nil
    }
}

/// The viewer of a connection, derived from the playlists requested on it.
///
/// Segments name no viewer, so that all viewers can share them. On a player's own connection they are attributed to
/// that player; on a connection that a proxy uses for several players, they are attributed to no viewer.
enum ConnectionViewer {
    case unknown
    case one(PlaybackSession)
    case shared

    /// The session id of the only viewer; nil if there is none or more than one.
    var sid: String? {
        if case .one(let viewer) = self { viewer.sid } else { nil }
    }

    /// Records a response, of which `bytes` of the body were sent.
    ///
    /// - Returns: Whether the response was media.
    mutating func recordDelivery(_ response: MediaResponse, bytes: Int) -> Bool {
        if let viewer = response.viewer {
            switch self {
            case .unknown: self = .one(viewer)
            case .one(let known) where known.sid != viewer.sid: self = .shared
            case .one, .shared: break
            }
            return false
        }
        guard response.allowsRanges, bytes > 0 else { return false }
        if case .one(let viewer) = self { viewer.record(.delivered, at: .now(), bytes: bytes) }
        return true
    }
}
