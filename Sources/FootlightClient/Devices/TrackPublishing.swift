public import GatewayModel
public import Stage

/// What takes a participant's tracks on and off the air; a `BroadcastCall` is one.
@MainActor
public protocol TrackPublishing: AnyObject {
    /// The devices to begin a call with.
    var callSettings: CallSettings { get set }

    /// Publishes a track.
    @discardableResult
    func publish(_ track: TrackName, isEnabled: Bool) async throws(StageError) -> TrackResource
    /// Disables a published track, or enables it again.
    @discardableResult
    func setEnabled(_ track: TrackName, _ isEnabled: Bool) async throws(StageError) -> TrackResource
    /// Takes a track off the air.
    func unpublish(_ track: TrackName) async throws(StageError)
}

extension BroadcastCall: TrackPublishing {}
