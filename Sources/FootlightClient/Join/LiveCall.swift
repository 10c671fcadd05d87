public import Foundation
import FootlightModel
public import Observation
public import Stage

/// A call over a gateway that conforms to `CallManageable`.
///
/// Before each call the microphone is off, and the camera is on if its use is authorized (``prepare()``).
@MainActor @Observable
public final class LiveCall: CallManageable {
    /// The underlying call.
    public let call: BroadcastCall
    /// The user's devices.
    public let media: LocalMedia

    /// The room's URL; nil before the first join.
    public private(set) var url: URL? { didSet { urlSubject.send(url) } }
    /// The participants of the call, and which of the others are displayed.
    public private(set) var participants: CallParticipants

    private var authorized: Set<TrackName> = []
    @ObservationIgnored private var follower: ParticipantTracker
    @ObservationIgnored private var tasks: [Task<Void, Never>] = []
    @ObservationIgnored private var lastState: CallState

    @ObservationIgnored private let urlSubject = CurrentValue<URL?>(.some(nil), waiting: 16)
    @ObservationIgnored private let stateSubject: CurrentValue<CallState>
    @ObservationIgnored private let cameraSubject: CurrentValue<CallDevice>
    @ObservationIgnored private let microphoneSubject: CurrentValue<CallDevice>
    @ObservationIgnored private let participantsSubject: CurrentValue<CallParticipants>

    /// Creates an idle call.
    ///
    /// - Parameters:
    ///   - call: The underlying call.
    ///   - capture: The capture devices; none by default, for an app whose users only watch.
    ///   - idiom: A phone displays 6 other participants, a pad 12.
    public init(call: BroadcastCall, capture: any MediaCapturing = NoCapture(), idiom: GridGeometry.Idiom = .pad) {
        self.call = call
        call.publishesTracks = false
        call.callSettings.isAudioOn = false
        call.callSettings.isVideoOn = false
        media = LocalMedia(publisher: call, capture: capture, clock: call.clock)
        follower = ParticipantTracker(
            identity: call.identity,
            username: call.displayName,
            idiom: idiom
        )
        participants = follower.participants
        lastState = call.status.callState
        stateSubject = CurrentValue(call.status.callState, waiting: 16)
        let off = CallDevice(isEnabled: false, isAuthorized: false)
        cameraSubject = CurrentValue(off, waiting: 16)
        microphoneSubject = CurrentValue(off, waiting: 16)
        participantsSubject = CurrentValue(follower.participants, waiting: 1)
        tasks = [
            Task { [weak self, statuses = call.statusSubject.lastingStream()] in
                for await status in statuses { await self?.apply(status) }
            },
            Task { [weak self, lists = call.participantsSubject.lastingStream()] in
                for await list in lists { await self?.apply(list) }
            },
        ]
    }

    deinit { for task in tasks { task.cancel() } }

    /// The state of the call.
    public var callState: CallState { call.status.callState }
    /// The error that ended the last attempt; nil without one.
    public var error: StageError? { call.status.error }

    /// The camera.
    public var camera: CallDevice {
        CallDevice(
            isEnabled: media.isCameraOn,
            isAuthorized: authorized.contains(.camera),
            isFacingUser: media.cameraPosition == .front
        )
    }

    /// The microphone.
    public var microphone: CallDevice {
        CallDevice(isEnabled: media.isMicOn, isAuthorized: authorized.contains(.mic))
    }

    /// The available audio outputs.
    public var audioRoutes: [AudioRoute] { media.audioRoutes }

    /// The current audio output.
    public var audioRoute: AudioRoute { media.audioRoute }

    /// `audioRoute`, now and from now on; buffers only the latest.
    public var currentAudioRoutes: AsyncStream<AudioRoute> { media.currentAudioRoutes }

    /// `url`, now and from now on.
    public var urls: AsyncStream<URL?> { urlSubject.stream() }
    /// `callState`, now and from now on.
    public var callStates: AsyncStream<CallState> { stateSubject.stream() }
    /// `camera`, now and from now on.
    public var cameras: AsyncStream<CallDevice> { cameraSubject.stream() }
    /// `microphone`, now and from now on.
    public var microphones: AsyncStream<CallDevice> { microphoneSubject.stream() }
    /// `participants`, now and from now on; buffers only the latest.
    public var participantViews: AsyncStream<CallParticipants> { participantsSubject.stream() }

    /// Sets the initial state of the devices: the microphone off, the camera on if its use is authorized.
    public func prepare() async {
        for track in [TrackName.camera, .mic] { _ = await isAuthorized(for: track) }
        guard ![.joining, .joined].contains(callState) else { return }
        await set { media throws(StageError) in try await media.setMic(false) }
        let isAllowed = authorized.contains(.camera)
        await set { media throws(StageError) in try await media.setCamera(isAllowed) }
    }

    /// Whether the user has authorized a device.
    public func isAuthorized(for track: TrackName) async -> Bool {
        let isAuthorized = await media.capture.isAuthorized(for: track)
        if isAuthorized { authorized.insert(track) } else { authorized.remove(track) }
        publishDevices()
        return isAuthorized
    }

    /// Turns the camera off if it is on, and on if it is off.
    public func toggleCamera(_ isOn: Bool) async {
        await set { media throws(StageError) in try await media.setCamera(!isOn) }
    }

    /// Turns the microphone off if it is on, and on if it is off.
    public func toggleMicrophone(_ isOn: Bool) async {
        await set { media throws(StageError) in try await media.setMic(!isOn) }
    }

    /// Switches between the front and the back camera.
    public func flipCamera() async {
        await set { media throws(StageError) in try await media.flipCamera() }
    }

    /// Switches to another audio output; without effect for one that is not available.
    public func choose(_ route: AudioRoute) async {
        await set { media throws(StageError) in try await media.choose(route) }
    }

    /// Sets the display name for the next join; nil for a guest.
    public func setUsername(_ username: String?) {
        call.displayName = username ?? "Guest"
    }

    /// Joins the room that a URL names, unless joining or joined already.
    public func join(url: URL) {
        guard let room = MeetingAddress.room(url), ![.joining, .joined].contains(callState) else {
            return
        }
        self.url = url
        call.join(CallJoin(room: room))
        publishState()
    }

    /// Leaves.
    public func leave() {
        call.leave()
        publishState()
    }

    // MARK: Updates

    /// Changes the devices; the call reports a failure as a problem.
    private func set(_ body: (LocalMedia) async throws(StageError) -> Void) async {
        do throws(StageError) {
            try await body(media)
        } catch {
            call.report(error)
        }
        publishDevices()
    }

    private func apply(_ status: CallStatus) async {
        publishState()
        guard case .left = status.phase else {
            await media.apply(status, of: call)
            return publishDevices()
        }
        call.callSettings.isAudioOn = false
        call.callSettings.isVideoOn = false
        await media.apply(status, of: call)
        await prepare()
        publishDevices()
    }

    private func apply(_ list: [ParticipantResource]) async {
        let before = follower.participants
        follower.apply(list)
        if follower.participants != before {
            participants = follower.participants
            participantsSubject.send(participants)
        }
        await media.updateRole(of: call)
        publishDevices()
    }

    private func publishState() {
        guard callState != lastState else { return }
        lastState = callState
        stateSubject.send(callState)
    }

    private func publishDevices() {
        cameraSubject.sendChange(camera)
        microphoneSubject.sendChange(microphone)
    }
}
