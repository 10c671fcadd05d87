#if canImport(FootlightClient)
public import FootlightClient
public import Foundation
public import Observation
public import Stage

/// A call that is only played: no network, no device, and nothing shared with another one.
///
/// A join succeeds at once, and so does leaving; a device that is toggled shows so.
@MainActor @Observable
public final class FakeCallManager: CallManageable {
    /// The room's address; nil before the first join.
    public private(set) var url: URL? { didSet { urlNews.send(url) } }
    /// Where the call stands.
    public private(set) var callState: CallState { didSet { stateNews.send(callState) } }
    /// What the screens shall show as the failure of the last attempt.
    public var error: StageError?
    /// The camera.
    public private(set) var camera: CallDevice { didSet { cameraNews.send(camera) } }
    /// The microphone.
    public private(set) var microphone: CallDevice { didSet { microphoneNews.send(microphone) } }
    /// The outputs by which sound can be heard; may be set to play that one comes or goes.
    public var audioRoutes = [AudioRoute.speaker] {
        didSet { if !audioRoutes.contains(audioRoute) { audioRoute = audioRoutes.first ?? .speaker } }
    }
    /// The output by which it is heard.
    public private(set) var audioRoute = AudioRoute.speaker { didSet { routeNews.send(audioRoute) } }
    /// Everybody in the call; may be set to play that somebody comes or goes.
    public var participants: CallParticipants { didSet { participantNews.send(participants) } }
    /// What was asked of the call, in order, such as `join https://live.example/show`.
    public private(set) var log: [String] = []

    @ObservationIgnored private let urlNews: CurrentValue<URL?>
    @ObservationIgnored private let stateNews: CurrentValue<CallState>
    @ObservationIgnored private let cameraNews: CurrentValue<CallDevice>
    @ObservationIgnored private let microphoneNews: CurrentValue<CallDevice>
    @ObservationIgnored private let routeNews = CurrentValue(AudioRoute.speaker, waiting: 16)
    @ObservationIgnored private let participantNews: CurrentValue<CallParticipants>

    /// Makes a call as it shall be seen.
    ///
    /// - Parameters:
    ///   - url: The room's address.
    ///   - callState: Where the call stands.
    ///   - camera: The camera; on and allowed.
    ///   - microphone: The microphone; allowed and off.
    ///   - local: The participant whose view it is.
    ///   - visible: The others, all of them shown.
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
        urlNews = CurrentValue(.some(url), waiting: 16)
        stateNews = CurrentValue(callState, waiting: 16)
        cameraNews = CurrentValue(camera, waiting: 16)
        microphoneNews = CurrentValue(microphone, waiting: 16)
        participantNews = CurrentValue(participants, waiting: 16)
    }

    /// `url`, now and from now on.
    public var urls: AsyncStream<URL?> { urlNews.stream() }
    /// `callState`, now and from now on.
    public var callStates: AsyncStream<CallState> { stateNews.stream() }
    /// `camera`, now and from now on.
    public var cameras: AsyncStream<CallDevice> { cameraNews.stream() }
    /// `microphone`, now and from now on.
    public var microphones: AsyncStream<CallDevice> { microphoneNews.stream() }
    /// `participants`, now and from now on; only the latest waits.
    public var participantViews: AsyncStream<CallParticipants> { participantNews.stream() }

    /// `audioRoute`, now and from now on.
    public var currentAudioRoutes: AsyncStream<AudioRoute> { routeNews.stream() }

    /// Whether the user allows a device to be used.
    public func isAuthorized(for track: TrackName) async -> Bool {
        track == .mic ? microphone.isAuthorized : camera.isAuthorized
    }

    /// Turns a camera that is on off, and one that is off on.
    public func toggleCamera(_ isOn: Bool) async {
        camera.isEnabled = !isOn
    }

    /// Turns a microphone that is on off, and one that is off on.
    public func toggleMicrophone(_ isOn: Bool) async {
        microphone.isEnabled = !isOn
    }

    /// Takes the other camera.
    public func flipCamera() async {
        camera.isFacingUser.toggle()
    }

    /// Lets sound be heard by another output; one that is not there changes nothing.
    public func choose(_ route: AudioRoute) async {
        if audioRoutes.contains(route) { audioRoute = route }
    }

    /// The name for the next join; nil for a guest.
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

    /// Joins the room that an address names, unless joining or joined already.
    public func join(url: URL) {
        guard ![.joining, .joined].contains(callState) else { return }
        log.append("join \(url.absoluteString)")
        error = nil
        self.url = url
        callState = .joined
    }

    /// Leaves.
    public func leave() {
        log.append("leave")
        callState = .left
    }
}
#endif
