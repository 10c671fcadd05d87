public import Media
public import NIOCore

/// Decides who may publish and play.
public protocol RTMPServerDelegate: Sendable {
    /// A peer asks to publish. Called on the connection's event loop.
    ///
    /// - Returns: The verdict, on any event loop. A failed future refuses.
    func publish(_ request: PublishRequest, on connection: RTMPConnection) -> EventLoopFuture<PublishVerdict>
    /// A peer asks to play. Called on the connection's event loop.
    ///
    /// - Returns: The verdict, on any event loop. A failed future refuses.
    func play(_ request: PlayRequest, on connection: RTMPConnection) -> EventLoopFuture<PlayVerdict>
}

/// The answer to a peer that wants to publish.
public enum PublishVerdict: Sendable {
    case accept(any PublishReceiver)
    /// The peer hears `status` after a delay, which makes guessing keys slow.
    case refuse(RTMPStatus, after: TimeAmount = .zero)
}

/// The answer to a peer that wants to play.
public enum PlayVerdict: Sendable {
    /// `sid` is told to the player in `NetStream.Play.Start`, when there is one.
    case accept(any PlayReceiver, sid: String? = nil)
    case refuse(RTMPStatus)
}

/// Takes a publisher's media.
///
/// All calls come on the connection's event loop.
public protocol PublishReceiver: AnyObject, Sendable {
    /// Takes one packet.
    ///
    /// Timestamps are unwrapped to 64 bits, and otherwise as the peer sent them: they may begin anywhere and step back.
    ///
    /// - Throws: A status that refuses the stream; it is told to the peer, and the connection is closed.
    func receive(_ packet: MediaPacket) throws(RTMPStatus)
    /// The stream is over. Called exactly once for an accepted stream, and nothing after it.
    func ended(_ reason: RTMPEndReason)
}

/// Feeds a player.
///
/// All calls come on the connection's event loop.
public protocol PlayReceiver: AnyObject, Sendable {
    /// The player was told that media follows; it may be written now.
    func started(on connection: RTMPConnection)
    /// The player is gone. Called exactly once for an accepted player, and nothing after it.
    func ended(_ reason: RTMPEndReason)
    /// Bytes of media that the player has taken so far, as long as it is a viewer: one that takes none is soon asked
    /// whether it is there. Nil for any other player, which is given more time.
    var taken: Int? { get }
}

extension PlayReceiver {
    /// No viewer.
    public var taken: Int? { nil }
}
