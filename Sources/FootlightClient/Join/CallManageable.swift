public import Foundation
public import Stage

/// A call as its screens use it: a live one (`LiveCall`), or a simulated one (`FakeCallManager`).
///
/// Each property has a stream that begins with the current value and keeps the newest values for a slow reader.
@MainActor
public protocol CallManageable: AnyObject {
    /// The room's URL; nil before the first join.
    var url: URL? { get }
    /// The state of the call.
    var callState: CallState { get }
    /// The error that ended the last attempt; nil without one.
    var error: StageError? { get }
    /// The camera.
    var camera: CallDevice { get }
    /// The microphone.
    var microphone: CallDevice { get }
    /// The available audio outputs; never empty.
    var audioRoutes: [AudioRoute] { get }
    /// The current audio output.
    var audioRoute: AudioRoute { get }
    /// The participants of the call, and which of the others are displayed.
    var participants: CallParticipants { get }

    /// `url`, now and from now on.
    var urls: AsyncStream<URL?> { get }
    /// `callState`, now and from now on.
    var callStates: AsyncStream<CallState> { get }
    /// `camera`, now and from now on.
    var cameras: AsyncStream<CallDevice> { get }
    /// `microphone`, now and from now on.
    var microphones: AsyncStream<CallDevice> { get }
    /// `participants`, now and from now on.
    var participantViews: AsyncStream<CallParticipants> { get }

    /// `audioRoute`, now and from now on.
    var currentAudioRoutes: AsyncStream<AudioRoute> { get }

    /// Whether the user has authorized a device.
    func isAuthorized(for track: TrackName) async -> Bool
    /// Turns the camera off if it is on, and on if it is off.
    func toggleCamera(_ isOn: Bool) async
    /// Turns the microphone off if it is on, and on if it is off.
    func toggleMicrophone(_ isOn: Bool) async
    /// Switches between the front and the back camera.
    func flipCamera() async
    /// Switches to another audio output; without effect for one that is not available.
    func choose(_ route: AudioRoute) async
    /// Sets the display name for the next join; nil for a guest.
    func setUsername(_ username: String?)
    /// Joins, unless joining or joined already; `callState` is `joining` on return.
    func join(url: URL)
    /// Leaves.
    func leave()
}

/// A camera or microphone on a join screen.
public struct CallDevice: Sendable, Hashable {
    /// Whether the user has turned it on.
    public var isEnabled: Bool
    /// Whether the user has authorized its use.
    public var isAuthorized: Bool
    /// Whether it is a camera that faces the user; true for microphones.
    public var isFacingUser: Bool

    /// Creates a device.
    public init(isEnabled: Bool, isAuthorized: Bool, isFacingUser: Bool = true) {
        self.isEnabled = isEnabled
        self.isAuthorized = isAuthorized
        self.isFacingUser = isFacingUser
    }

    /// Unmuted if it is both on and authorized.
    public var muteState: CallMuteState { isEnabled && isAuthorized ? .unmuted : .muted }
}

/// Whether other participants receive a device's media.
public enum CallMuteState: Sendable, Hashable {
    case muted
    case unmuted
}
