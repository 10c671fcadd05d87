public import Foundation

/// A client of a gateway's control API, with one async method for each route.
///
/// ## Overview
///
/// A client is a value with an address and a token, without mutable state of its own. Copies may be used freely, and
/// calls may run concurrently.
///
///     let client = BroadcastClient(baseURL: gateway, token: token)
///     let room = try await client.room("show")
///     let answer = try await client.join("show", JoinBody(identity: "ann", mode: "SEND_AND_RECV"))
///
/// - **Results** are the values of `FootlightModel`, field by field what is on the wire.
/// - **Errors** are always `StageError`s: compare `code`; `message`, `cause` and `solution` are for people,
///   `isRetryable` and `retryAfter` say whether and when to retry. The gateway's errors are passed through unchanged.
///   The client itself throws 53000 (``Stage/StageError/callNotConnected``: name resolution, route or certificate
///   failed, or no response within 15 s), 499 (the task was cancelled), and the HTTP status as the code for a response
///   that is not the gateway's.
/// - **Events** of a room are ``events(of:after:)``, which reconnects when the stream breaks and neither loses nor
///   repeats an event; those of an identity (invitations) are ``events(ofIdentity:)``.
/// - **A whole call**, from the lobby to the end, is ``BroadcastCall``: it joins, follows the room, sends heartbeats,
///   reconnects, and is observable.
///
/// | subject | methods |
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
/// | audio | ``sound(of:)`` ``setSound(of:_:)`` ``setSound(of:in:_:)`` |
/// | images, music | ``assets(of:)`` ``asset(_:of:)`` ``storeAsset(_:as:in:)`` ``removeAsset(_:from:)`` |
///
/// Redirects are followed with the original method; the token is sent to the original host only.
///
/// A room is named by its unique name or its sid, a participant by its identity or its sid.
public struct BroadcastClient: Sendable {
    /// The gateway's URL, such as `https://live.example`; paths below `/v1` are appended.
    public let baseURL: URL
    /// The bearer token; a fresh one may be set at any time, and is used from the next request on.
    public var token: String
    /// The timeouts and limits.
    public let limits: ClientLimits
    /// The clock of the timeouts.
    public let clock: ClientClock

    let connection: HTTPConnection

    /// Creates a client; no connection is opened before the first request.
    public init(baseURL: URL, token: String, limits: ClientLimits = .init(), clock: ClientClock = .system) {
        self.baseURL = baseURL
        self.token = token
        self.limits = limits
        self.clock = clock
        connection = HTTPConnection(clock: clock)
    }
}
