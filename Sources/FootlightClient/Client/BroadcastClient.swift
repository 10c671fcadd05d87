public import Foundation

/// A gateway's control API: every command and every question of an app, as one async method each.
///
/// ## Overview
///
/// A client is a value: an address, a token, and nothing that changes with its use. It can be handed around freely, and
/// calls on it may run at the same time.
///
///     let client = BroadcastClient(baseURL: gateway, token: token)
///     let room = try await client.room("show")
///     let answer = try await client.join("show", JoinBody(identity: "ann", mode: "SEND_AND_RECV"))
///
/// - **What comes back** are the values of `GatewayModel`, field by field what is on the wire.
/// - **What goes wrong** is always a `StageError`: `code` is what to compare, `message`, `cause` and `solution` are for
///   people, `isRetryable` and `retryAfter` say whether and when to ask again. The gateway's refusals are handed on as
///   they came. Raised by the client itself are 53000 (``Stage/StageError/callNotConnected``: no name, no route, no
///   trust, or no answer within 15 s), 499 (the asking task was cancelled), and for an answer that no gateway gives a
///   code that is the HTTP status.
/// - **Events** of a room come by ``events(of:after:)``, which opens the stream again when it breaks and loses none and
///   repeats none; those of an identity (invitations) by ``events(ofIdentity:)``.
/// - **A whole call**, from the lobby to the goodbye, is ``BroadcastCall``: it joins, follows the room, gives signs of
///   life, wins back what breaks, and is observable.
///
/// | who | what |
/// |---|---|
/// | rooms | ``createRoom(_:)`` ``rooms(status:pageSize:pageToken:)`` ``room(_:)`` |
/// |  | ``endRoom(_:)`` ``goLive(_:)`` ``stopLive(_:)`` |
/// | participants | ``join(_:_:)`` ``participants(of:mode:status:pageSize:pageToken:)`` ``participant(_:in:)`` |
/// |  | ``update(_:in:_:)`` ``leave(_:in:)`` ``remove(_:from:)`` |
/// | sessions | ``heartbeat(_:in:sessionID:audioLevel:)`` ``reconnect(_:in:sessionID:lastEventID:)`` |
/// | modes | ``changeMode(of:in:to:)`` |
/// | tracks | ``publish(_:of:in:isEnabled:)`` ``setEnabled(_:_:of:in:)`` ``unpublish(_:of:in:)`` |
/// | pins | ``pin(_:in:_:)`` ``unpin(_:in:)`` |
/// | layout | ``layout(of:)`` ``setLayout(of:_:)`` ``previewLayout(of:_:)`` |
/// | livestream | ``startLivestream(of:_:)`` ``stopLivestream(of:)`` ``addOutputs(to:_:)`` ``removeOutput(_:from:)`` |
/// | HLS, egress | ``startHLS(of:_:)`` ``stopHLS(of:)`` ``egress(of:)`` |
/// | invitations | ``invite(to:_:)`` ``invitation(_:)`` ``acceptInvitation(_:)`` |
/// |  | ``rejectInvitation(_:)`` ``cancelInvitation(_:)`` |
/// | raised hands | ``raiseHand(in:timeout:)`` ``hands(in:pageSize:pageToken:)`` ``lowerHand(_:in:)`` |
/// |  | ``acceptHand(_:in:)`` ``rejectHand(_:in:)`` |
/// | custom events | ``sendEvent(_:_:to:)`` |
/// | audience | ``viewership(of:)`` ``viewership()`` |
/// | sound | ``sound(of:)`` ``setSound(of:_:)`` ``setSound(of:in:_:)`` |
/// | pictures, music | ``assets(of:)`` ``asset(_:of:)`` ``storeAsset(_:as:in:)`` ``removeAsset(_:from:)`` |
///
/// A redirect is followed as what it was, a command as a command; the token goes along to the same host only.
///
/// A room is named by its unique name or its sid, a participant by its identity or its sid.
public struct BroadcastClient: Sendable {
    /// The gateway, such as `https://live.example`; what is below `/v1` is added.
    public let baseURL: URL
    /// The bearer token; a fresh one may be set at any time, and counts from the next request on.
    public var token: String
    /// How long is waited for the gateway.
    public let limits: ClientLimits
    /// The clock on which that is counted.
    public let clock: ClientClock

    let connection: HTTPConnection

    /// Makes a client; nothing is opened before the first request.
    public init(baseURL: URL, token: String, limits: ClientLimits = .init(), clock: ClientClock = .system) {
        self.baseURL = baseURL
        self.token = token
        self.limits = limits
        self.clock = clock
        connection = HTTPConnection(clock: clock)
    }
}
