public import FootlightModel
public import Stage

/// Captures video and audio and plays audio: a device's camera and microphone, a file, or a test pattern.
@MainActor
public protocol MediaCapturing: AudioPlaying {
    /// Whether the user has authorized a device; asks the user if this was not asked before.
    func isAuthorized(for track: TrackName) async -> Bool

    /// Starts the capture for a track.
    ///
    /// - Throws: The error that prevented the start; nothing is captured then.
    func start(_ track: TrackName, camera: CallSettings.CameraPosition) async throws(StageError)

    /// Stops the capture for a track; without effect if nothing is captured.
    func stop(_ track: TrackName) async

    /// Switches the camera; the track stays the same.
    func use(_ camera: CallSettings.CameraPosition) async throws(StageError)
}

/// Captures nothing, for an app whose users only watch: no device is authorized, and none starts.
@MainActor
public final class NoCapture: MediaCapturing {
    /// Creates the capture.
    public init() {}

    /// Returns false.
    public func isAuthorized(for track: TrackName) async -> Bool { false }

    /// Throws 3073.
    public func start(_ track: TrackName, camera: CallSettings.CameraPosition) async throws(StageError) {
        throw .captureMissing
    }

    /// Does nothing.
    public func stop(_ track: TrackName) async {}

    /// Throws 3073.
    public func use(_ camera: CallSettings.CameraPosition) async throws(StageError) {
        throw .captureMissing
    }
}

/// Plays audio to the user; the default implementations suit an app that plays none.
@MainActor
public protocol AudioPlaying: AnyObject {
    /// Pauses playback while another app or the system uses the audio device.
    func pauseAudio() async

    /// Resumes playback.
    func resumeAudio() async

    /// The available outputs in the order in which they are offered; never empty.
    var audioRoutes: [AudioRoute] { get }

    /// The current output.
    var audioRoute: AudioRoute { get }

    /// Returns a stream that emits when the outputs or the system's choice change.
    func audioRouteChanges() -> AsyncStream<Void>

    /// Switches to another output.
    ///
    /// - Throws: 3073 for an output that is not available.
    func choose(_ route: AudioRoute) async throws(StageError)
}

extension AudioPlaying {
    /// Does nothing.
    public func pauseAudio() async {}

    /// Does nothing.
    public func resumeAudio() async {}

    /// The loudspeaker only.
    public var audioRoutes: [AudioRoute] { [.speaker] }

    /// The loudspeaker.
    public var audioRoute: AudioRoute { .speaker }

    /// Returns a stream that ends immediately.
    public func audioRouteChanges() -> AsyncStream<Void> { AsyncStream { $0.finish() } }

    /// Accepts the loudspeaker only.
    public func choose(_ route: AudioRoute) async throws(StageError) {
        guard route == .speaker else { throw .audioRouteMissing }
    }
}

/// An audio output of the device.
public struct AudioRoute: Sendable, Hashable, Identifiable {
    /// The kind of an output.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The device's loudspeaker.
        case speaker
        /// The receiver that is held to the ear.
        case receiver
        /// Wired headphones.
        case headphones
        /// Wireless headphones or a wireless speaker.
        case wireless
        /// The speakers of a car.
        case car
        /// The speakers of a display.
        case screen
        /// Any other output.
        case other
    }

    /// Identifies the output while it is available.
    public var id: String
    /// The name for the user.
    public var name: String
    /// The kind of output.
    public var kind: Kind

    /// Creates an output.
    public init(id: String, name: String, kind: Kind) {
        self.id = id
        self.name = name
        self.kind = kind
    }

    /// The output of a device without a choice.
    public static let speaker = AudioRoute(id: "speaker", name: "Speaker", kind: .speaker)
}

extension StageError {
    /// 3073: the app captures no audio and video.
    public static var captureMissing: StageError {
        .invalidParameter("capture", "must be given to turn a microphone or camera on")
    }

    /// 3073: the audio output is not available.
    public static var audioRouteMissing: StageError {
        .invalidParameter("audio_route", "must be one of the outputs that are there")
    }
}

/// Publishes a participant's tracks; `BroadcastCall` conforms to it.
@MainActor
public protocol TrackPublishing: AnyObject {
    /// The devices at the start of a call.
    var callSettings: CallSettings { get set }

    /// Publishes a track.
    @discardableResult
    func publish(_ track: TrackName, isEnabled: Bool) async throws(StageError) -> TrackResource
    /// Disables a published track, or enables it again.
    @discardableResult
    func setEnabled(_ track: TrackName, _ isEnabled: Bool) async throws(StageError) -> TrackResource
    /// Unpublishes a track.
    func unpublish(_ track: TrackName) async throws(StageError)
}

extension BroadcastCall: TrackPublishing {}
