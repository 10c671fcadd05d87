#if canImport(FootlightClient)
public import FootlightClient
public import Foundation
public import Observation
public import Stage

/// A simulated call without network and devices.
///
/// Joining and leaving succeed immediately; toggling a device changes its state.
@MainActor @Observable
public final class FakeCallManager: CallManageable {
    /// The room's URL; nil before the first join.
    public private(set) var url: URL? { didSet { urlValues.send(url) } }
    /// The state of the call.
    public private(set) var callState: CallState { didSet { stateValues.send(callState) } }
    /// The failure of the last attempt, as displayed by the app.
    public var error: StageError?
    /// The camera.
    public private(set) var camera: CallDevice { didSet { cameraValues.send(camera) } }
    /// The microphone.
    public private(set) var microphone: CallDevice { didSet { microphoneValues.send(microphone) } }
    /// The available audio outputs; may be set to simulate a change.
    public var audioRoutes = [AudioRoute.speaker] {
        didSet { if !audioRoutes.contains(audioRoute) { audioRoute = audioRoutes.first ?? .speaker } }
    }
    /// The current audio output.
    public private(set) var audioRoute = AudioRoute.speaker { didSet { routeValues.send(audioRoute) } }
    /// The participants of the call; may be set to simulate a join or leave.
    public var participants: CallParticipants { didSet { participantValues.send(participants) } }
    /// The calls made so far, in order, such as `join https://live.example/show`.
    public private(set) var log: [String] = []

    @ObservationIgnored private let urlValues: CurrentValue<URL?>
    @ObservationIgnored private let stateValues: CurrentValue<CallState>
    @ObservationIgnored private let cameraValues: CurrentValue<CallDevice>
    @ObservationIgnored private let microphoneValues: CurrentValue<CallDevice>
    @ObservationIgnored private let routeValues = CurrentValue(AudioRoute.speaker, waiting: 16)
    @ObservationIgnored private let participantValues: CurrentValue<CallParticipants>

    /// Creates a call in the given state.
    ///
    /// - Parameters:
    ///   - url: The room's URL.
    ///   - callState: The state of the call.
    ///   - camera: The camera; enabled and authorized by default.
    ///   - microphone: The microphone; authorized and disabled by default.
    ///   - local: The local participant.
    ///   - visible: The remote participants, all visible.
    public init(
        url: URL? = nil,
        callState: CallState = .initialized,
        camera: CallDevice = CallDevice(isEnabled: true, isAuthorized: true),
        microphone: CallDevice = CallDevice(isEnabled: false, isAuthorized: true),
        local: CallParticipant = CallParticipant(id: "local"),
        visible: [CallParticipant] = []
    ) {
        let remote = Dictionary(visible.map { ($0.id, $0) }) { first, _ in first }
        let participants = CallParticipants(local: local, remote: remote, visible: visible)
        self.url = url
        self.callState = callState
        self.camera = camera
        self.microphone = microphone
        self.participants = participants
        urlValues = CurrentValue(.some(url), waiting: 16)
        stateValues = CurrentValue(callState, waiting: 16)
        cameraValues = CurrentValue(camera, waiting: 16)
        microphoneValues = CurrentValue(microphone, waiting: 16)
        participantValues = CurrentValue(participants, waiting: 16)
    }

    /// The current and future values of `url`.
    public var urls: AsyncStream<URL?> { urlValues.stream() }
    /// The current and future values of `callState`.
    public var callStates: AsyncStream<CallState> { stateValues.stream() }
    /// The current and future values of `camera`.
    public var cameras: AsyncStream<CallDevice> { cameraValues.stream() }
    /// The current and future values of `microphone`.
    public var microphones: AsyncStream<CallDevice> { microphoneValues.stream() }
    /// The current and future values of `participants`; only the latest is buffered.
    public var participantViews: AsyncStream<CallParticipants> { participantValues.stream() }

    /// The current and future values of `audioRoute`.
    public var currentAudioRoutes: AsyncStream<AudioRoute> { routeValues.stream() }

    /// Returns whether a device is authorized.
    public func isAuthorized(for track: TrackName) async -> Bool {
        track == .mic ? microphone.isAuthorized : camera.isAuthorized
    }

    /// Disables the camera if `isOn`, otherwise enables it.
    public func toggleCamera(_ isOn: Bool) async {
        camera.isEnabled = !isOn
    }

    /// Disables the microphone if `isOn`, otherwise enables it.
    public func toggleMicrophone(_ isOn: Bool) async {
        microphone.isEnabled = !isOn
    }

    /// Switches to the other camera.
    public func flipCamera() async {
        camera.isFacingUser.toggle()
    }

    /// Selects an audio output; an unavailable one is ignored.
    public func choose(_ route: AudioRoute) async {
        if audioRoutes.contains(route) { audioRoute = route }
    }

    /// Sets the name for the next join; nil for a guest.
    public func setUsername(_ username: String?) {
        let name = username ?? "Guest"
        log.append("username \(name)")
        var local = participants.local
        local.username = name
        participants = CallParticipants(
            local: local,
            remote: participants.remote,
            visible: participants.visible
        )
    }

    /// Joins the room at a URL, unless joining or joined already.
    public func join(url: URL) {
        guard ![.joining, .joined].contains(callState) else { return }
        log.append("join \(url.absoluteString)")
        error = nil
        self.url = url
        callState = .joined
    }

    /// Leaves the call.
    public func leave() {
        log.append("leave")
        callState = .left
    }
}

/// Simulated capture devices that log their use and can be made to fail.
@MainActor
public final class FakeCapture: MediaCapturing {
    /// The authorized devices.
    public var authorized: Set<TrackName> = [.mic, .camera]
    /// The errors with which devices fail to start.
    public var failures: [TrackName: StageError] = [:]
    /// The calls made so far, in order, such as `start camera front`.
    public private(set) var log: [String] = []
    /// The running devices.
    public private(set) var running: Set<TrackName> = []

    /// The available audio outputs; may be set to simulate a change, and the first replaces a removed current one.
    public var audioRoutes = [AudioRoute.speaker] {
        didSet {
            if !audioRoutes.contains(audioRoute) { audioRoute = audioRoutes.first ?? .speaker }
            routeChange?.yield()
        }
    }
    /// The current audio output.
    public private(set) var audioRoute = AudioRoute.speaker
    private var routeChange: AsyncStream<Void>.Continuation?

    /// Creates devices that work.
    public init() {}

    /// Returns whether a device is authorized.
    public func isAuthorized(for track: TrackName) async -> Bool {
        authorized.contains(track)
    }

    /// Logs the start of a device, or throws its configured error.
    public func start(
        _ track: TrackName,
        camera: CallSettings.CameraPosition
    )
        async throws(StageError)
    {
        if let failure = failures[track] { throw failure }
        running.insert(track)
        log.append(track == .camera ? "start camera \(camera.rawValue)" : "start \(track.rawValue)")
    }

    /// Logs the stop of a device.
    public func stop(_ track: TrackName) async {
        running.remove(track)
        log.append("stop \(track.rawValue)")
    }

    /// Returns changes of the audio outputs; only the latest caller receives them.
    public func audioRouteChanges() -> AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { routeChange = $0 }
    }

    /// Logs the selection of an audio output.
    public func choose(_ route: AudioRoute) async throws(StageError) {
        audioRoute = route
        log.append("choose \(route.id)")
    }

    /// Logs a pause of playback.
    public func pauseAudio() async {
        log.append("pause audio")
    }

    /// Logs a resumption of playback.
    public func resumeAudio() async {
        log.append("resume audio")
    }

    /// Logs a switch of the camera.
    public func use(_ camera: CallSettings.CameraPosition) async throws(StageError) {
        if let failure = failures[.camera] { throw failure }
        log.append("use \(camera.rawValue)")
    }
}
#endif
