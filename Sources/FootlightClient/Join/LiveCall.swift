public import Foundation
import GatewayModel
public import Observation
public import Stage

/// A call over a gateway in the words of `CallManageable`.
///
/// Before each call the microphone is off, and the camera is on if its use is allowed (``prepare()``).
@MainActor @Observable
public final class LiveCall: CallManageable {
    /// The call itself, with everything a screen of these words does not need.
    public let call: BroadcastCall
    /// The user's devices.
    public let media: LocalMedia

    /// The room's address; nil before the first join.
    public private(set) var url: URL? { didSet { urlNews.send(url) } }
    /// Everybody in the call, and who of the others is shown where.
    public private(set) var participants: CallParticipants

    private var authorized: Set<TrackName> = []
    @ObservationIgnored private var follower: ParticipantFollower
    @ObservationIgnored private var tasks: [Task<Void, Never>] = []
    @ObservationIgnored private var told: CallState

    @ObservationIgnored private let urlNews = CurrentValue<URL?>(.some(nil), waiting: 16)
    @ObservationIgnored private let stateNews: CurrentValue<CallState>
    @ObservationIgnored private let cameraNews: CurrentValue<CallDevice>
    @ObservationIgnored private let microphoneNews: CurrentValue<CallDevice>
    @ObservationIgnored private let participantNews: CurrentValue<CallParticipants>

    /// Makes a call that is idle.
    ///
    /// - Parameters:
    ///   - call: Joins and follows the room.
    ///   - capture: The devices.
    ///   - idiom: A phone shows 6 others, a pad 12.
    public init(call: BroadcastCall, capture: any MediaCapturing, idiom: GridGeometry.Idiom = .pad) {
        self.call = call
        call.publishesTracks = false
        call.callSettings.isAudioOn = false
        call.callSettings.isVideoOn = false
        media = LocalMedia(publisher: call, capture: capture, clock: call.clock)
        follower = ParticipantFollower(
            identity: call.identity,
            username: call.displayName,
            idiom: idiom
        )
        participants = follower.participants
        told = call.status.callState
        stateNews = CurrentValue(call.status.callState, waiting: 16)
        let off = CallDevice(isEnabled: false, isAuthorized: false)
        cameraNews = CurrentValue(off, waiting: 16)
        microphoneNews = CurrentValue(off, waiting: 16)
        participantNews = CurrentValue(follower.participants, waiting: 1)
        tasks = [
            Task { [weak self, statuses = call.statuses] in
                for await status in statuses { await self?.take(status) }
            },
            Task { [weak self, lists = call.participantLists] in
                for await list in lists { await self?.take(list) }
            },
        ]
    }

    deinit { for task in tasks { task.cancel() } }

    /// Where the call stands.
    public var callState: CallState { call.status.callState }
    /// What ended the last attempt; nil while there is nothing to tell.
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

    /// The outputs by which sound can be heard, as they are to be offered.
    public var audioRoutes: [AudioRoute] { media.audioRoutes }

    /// The output by which it is heard.
    public var audioRoute: AudioRoute { media.audioRoute }

    /// `audioRoute`, now and from now on; only the latest waits.
    public var currentAudioRoutes: AsyncStream<AudioRoute> { media.currentAudioRoutes }

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

    /// Puts the devices where a call begins with them: the microphone off, the camera on if that is allowed.
    public func prepare() async {
        for track in [TrackName.camera, .mic] { _ = await isAuthorized(for: track) }
        guard ![.joining, .joined].contains(callState) else { return }
        await set { media throws(StageError) in try await media.setMic(false) }
        let isAllowed = authorized.contains(.camera)
        await set { media throws(StageError) in try await media.setCamera(isAllowed) }
    }

    /// Whether the user allows a device to be used.
    public func isAuthorized(for track: TrackName) async -> Bool {
        let isAuthorized = await media.capture.isAuthorized(for: track)
        if isAuthorized { authorized.insert(track) } else { authorized.remove(track) }
        tellDevices()
        return isAuthorized
    }

    /// Turns a camera that is on off, and one that is off on.
    public func toggleCamera(_ isOn: Bool) async {
        await set { media throws(StageError) in try await media.setCamera(!isOn) }
    }

    /// Turns a microphone that is on off, and one that is off on.
    public func toggleMicrophone(_ isOn: Bool) async {
        await set { media throws(StageError) in try await media.setMic(!isOn) }
    }

    /// Takes the other camera.
    public func flipCamera() async {
        await set { media throws(StageError) in try await media.flipCamera() }
    }

    /// Lets sound be heard by another output; one that is not there changes nothing.
    public func choose(_ route: AudioRoute) async {
        await set { media throws(StageError) in try await media.choose(route) }
    }

    /// The name for the next join; nil for a guest.
    public func setUsername(_ username: String?) {
        call.displayName = username ?? "Guest"
    }

    /// Joins the room that an address names, unless joining or joined already.
    public func join(url: URL) {
        guard let room = MeetingAddress.room(url), ![.joining, .joined].contains(callState) else {
            return
        }
        self.url = url
        call.join(CallJoin(room: room))
        tellState()
    }

    /// Leaves.
    public func leave() {
        call.leave()
        tellState()
    }

    // MARK: News

    /// Does something with the devices; a failure is told by the call, as one that ends nothing.
    private func set(_ body: (LocalMedia) async throws(StageError) -> Void) async {
        do throws(StageError) {
            try await body(media)
        } catch {
            call.report(error)
        }
        tellDevices()
    }

    private func take(_ status: CallStatus) async {
        tellState()
        guard case .left = status.phase else {
            await media.take(status, of: call)
            return tellDevices()
        }
        call.callSettings.isAudioOn = false
        call.callSettings.isVideoOn = false
        await media.take(status, of: call)
        await prepare()
        tellDevices()
    }

    private func take(_ list: [ParticipantResource]) async {
        let before = follower.participants
        follower.take(list)
        if follower.participants != before {
            participants = follower.participants
            participantNews.send(participants)
        }
        await media.takeParticipants(of: call)
        tellDevices()
    }

    private func tellState() {
        guard callState != told else { return }
        told = callState
        stateNews.send(callState)
    }

    private func tellDevices() {
        cameraNews.sendChange(camera)
        microphoneNews.sendChange(microphone)
    }
}
