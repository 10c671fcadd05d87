public import Foundation
public import Stage

/// A call as its screens need it: a live one (`LiveCall`), or one that is only played (`FakeCallManager`).
///
/// Each property has a stream that begins with the value there is; of what a slow reader missed, the newest counts.
@MainActor
public protocol CallManageable: AnyObject {
    /// The room's address; nil before the first join.
    var url: URL? { get }
    /// Where the call stands.
    var callState: CallState { get }
    /// What ended the last attempt; nil while there is nothing to tell.
    var error: StageError? { get }
    /// The camera.
    var camera: CallDevice { get }
    /// The microphone.
    var microphone: CallDevice { get }
    /// The outputs by which sound can be heard, as they are to be offered; never empty.
    var audioRoutes: [AudioRoute] { get }
    /// The output by which it is heard.
    var audioRoute: AudioRoute { get }
    /// Everybody in the call, and who of the others is shown where.
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

    /// Whether the user allows a device to be used.
    func isAuthorized(for track: TrackName) async -> Bool
    /// Turns a camera that is on off, and one that is off on.
    func toggleCamera(_ isOn: Bool) async
    /// Turns a microphone that is on off, and one that is off on.
    func toggleMicrophone(_ isOn: Bool) async
    /// Takes the other camera.
    func flipCamera() async
    /// Lets sound be heard by another output; one that is not there changes nothing.
    func choose(_ route: AudioRoute) async
    /// The name for the next join; nil for a guest.
    func setUsername(_ username: String?)
    /// Joins; `callState` is `joining` when this returns. Without effect while joining or joined.
    func join(url: URL)
    /// Leaves.
    func leave()
}
