public import FootlightModel
public import Observation
public import Stage

/// The model of a call that may ring, from the lobby to the end.
///
/// ## Overview
///
///     let model = CallingModel(call: call, capture: capture)
///     model.joinCall("show")                        // callingState is `joining` at once
///     switch model.screen { case .call: …  }        // one value says what is to be seen
///
/// A request of the user returns immediately, and ``callingState`` reports the result; a request that the current state
/// does not allow is ignored. Calls ring after ``listen()``.
@MainActor @Observable
public final class CallingModel {
    /// The underlying call.
    public let call: BroadcastCall
    /// The user's devices.
    public let media: LocalMedia

    /// Whether the call is minimized beside other content; reset by the end of a call.
    public var isMinimized = false
    /// The rules that sort the participants.
    public var comparators = ParticipantComparator.defaultComparators
    /// The participants that are visible, and their sizes; used by sort rules that keep visible ones in place.
    public private(set) var visibleTracks = VisibleTracks()

    private var choice = LayoutChoice()
    private var chosenControls: [CallControl]?
    private var ringingState = false
    /// Whether the last status was not idle.
    @ObservationIgnored private var hasActiveCall = false
    @ObservationIgnored private let ringingSubject = CurrentValue(false, waiting: 16)
    @ObservationIgnored private var tasks: [Task<Void, Never>] = []

    /// Makes the model of a call.
    ///
    /// - Parameters:
    ///   - call: The underlying call.
    ///   - capture: The capture devices; none by default, for an app whose users only watch.
    public init(call: BroadcastCall, capture: any MediaCapturing = NoCapture()) {
        self.call = call
        call.publishesTracks = false
        media = LocalMedia(publisher: call, capture: capture, clock: call.clock)
        tasks = [
            Task { [weak self, statuses = call.statusSubject.lastingStream()] in
                for await status in statuses { await self?.apply(status) }
            },
            Task { [weak self, lists = call.participantsSubject.lastingStream()] in
                for await list in lists { await self?.apply(list) }
            },
            Task { [weak self, rooms = call.lobbySubject.lastingStream()] in
                for await _ in rooms { self?.applyLobby() }
            },
        ]
    }

    deinit { for task in tasks { task.cancel() } }

    // MARK: State

    /// The state of the call.
    public var callingState: CallingState { call.status.callingState }
    /// The error that ended the last attempt; nil without one.
    public var error: StageError? { call.status.error }
    /// The screen to be shown.
    public var screen: CallScreen {
        CallScreen(callingState, isEmpty: participants.isEmpty, isMinimized: isMinimized)
    }
    /// The participants in the room by sid.
    public var callParticipants: [String: ParticipantResource] {
        Dictionary(call.participants.map { ($0.sid, $0) }) { first, _ in first }
    }
    /// The local participant; nil outside a room.
    public var localParticipant: ParticipantResource? { call.localParticipant }
    /// The participants in the layout, in order.
    public var participants: [ParticipantResource] { displayed.participants }
    /// Whether the local video floats above the others.
    public var isLocalFloating: Bool { displayed.isLocalFloating }
    /// The layout.
    public var layout: ParticipantsLayout { choice.layout }
    /// The controls of a call's screen: those that the app has set, or those for the participant's mode.
    public var controls: [CallControl] {
        get { chosenControls ?? standardControls }
        set { chosenControls = newValue }
    }
    private var standardControls: [CallControl] {
        switch localParticipant?.mode.value {
        case .sendAndReceive, nil: CallControl.standard
        case .receiveOnly: CallControl.standard(for: .receiveOnly)
        case .signallingOnly: CallControl.standard(for: .signallingOnly)
        }
    }
    /// Whether the ringtone is to be played.
    public var isRinging: Bool { ringingState }
    /// `isRinging`, now and from now on.
    public var ringing: AsyncStream<Bool> { ringingSubject.stream() }
    /// The open invitation to the stage; nil without one.
    public var stageInvitation: CallInvitation? { call.stageInvitation }

    /// The devices.
    public var callSettings: DeviceSettings {
        DeviceSettings(
            audioOn: media.isMicOn,
            videoOn: media.isCameraOn,
            speakerOn: call.callSettings.isSpeakerOn ?? call.serverSettings?.speakerOn ?? true,
            audioOutputOn: call.callSettings.isAudioOutputOn ?? call.serverSettings?.audioOutputOn ?? true,
            cameraPosition: media.cameraPosition
        )
    }

    private func applyLobby() {
        media.applyServerSettings(of: call)
    }

    private var displayed: DisplayedParticipants {
        DisplayedParticipants(
            call.participants,
            local: call.identity,
            layout: layout,
            comparators: comparators,
            visible: visibleTracks.shown
        )
    }

    // MARK: Requests

    /// Starts listening for calls from others.
    public func listen() {
        call.startListening()
    }

    /// Enters the lobby of a call before joining it.
    public func enterLobby(_ callID: String, type: String = "default", members: [String] = []) {
        call.enterLobby(LobbyInfo(callID: callID, callType: type, participants: members))
    }

    /// Joins a call.
    public func joinCall(
        _ callID: String,
        type: String = "default",
        mode: ParticipantMode = .sendAndReceive
    ) {
        call.join(CallJoin(room: callID, callType: type, mode: mode))
    }

    /// Starts a call; one that rings is joined when the first of the members accepts.
    ///
    /// - Parameters:
    ///   - members: The identities to invite; ignored without `ring`.
    ///   - timeout: The time in seconds that the call rings.
    public func startCall(
        _ callID: String,
        type: String = "default",
        members: [String] = [],
        ring: Bool = false,
        timeout: Int = 30
    ) {
        let join = CallJoin(room: callID, callType: type)
        if ring {
            call.ring(CallRing(join: join, invitees: members, timeout: timeout))
        } else {
            call.join(join)
        }
    }

    /// Accepts the incoming call, or the invitation to the stage.
    public func acceptCall() {
        call.accept()
    }

    /// Rejects the incoming call, or the invitation to the stage.
    public func rejectCall() {
        call.reject()
    }

    /// Leaves the call in any phase.
    public func hangUp() {
        call.hangUp()
    }

    /// Chooses a layout, which is then kept until the end of the call.
    public func choose(_ layout: ParticipantsLayout) {
        choice.choose(layout)
    }

    /// Reports that a participant became visible or invisible.
    public func changeTrackVisibility(_ sid: String, isVisible: Bool) {
        visibleTracks.setVisible(sid, isVisible)
    }

    /// Reports the size at which a participant is displayed.
    public func updateTrackSize(_ sid: String, _ size: VisibleTracks.Size) {
        visibleTracks.setSize(sid, size)
    }

    /// Reports that the call's screen is displayed: capture starts for devices that are on.
    public func enteredCallView() async {
        await media.beginCapture()
    }

    // MARK: Devices

    /// Turns the microphone on or off; in a call the value changes after the gateway has confirmed it.
    public func toggleMicrophone() async throws(StageError) {
        try await media.setMic(!media.isMicOn)
    }

    /// Turns the camera on or off; in a call the value changes after the gateway has confirmed it.
    public func toggleCamera() async throws(StageError) {
        try await media.setCamera(!media.isCameraOn)
    }

    /// Switches between the front and the back camera; while the camera is off only the value changes.
    public func toggleCameraPosition() async throws(StageError) {
        try await media.flipCamera()
    }

    /// Turns the loudspeaker on or off.
    public func toggleSpeaker() {
        call.callSettings.isSpeakerOn = !callSettings.speakerOn
    }

    /// Turns audio output on or off.
    public func toggleAudioOutput() {
        call.callSettings.isAudioOutputOn = !callSettings.audioOutputOn
    }

    // MARK: Updates

    private func apply(_ status: CallStatus) async {
        setRinging(Self.rings(status.callingState) ?? ringingState)
        if status.callingState != .idle {
            hasActiveCall = true
        } else if hasActiveCall {
            // The status before the first call does not end one; the next call may have begun by now.
            hasActiveCall = false
            isMinimized = false
            choice.callEnded()
            applyPresentation()
        }
        await media.apply(status, of: call)
    }

    private func apply(_ list: [ParticipantResource]) async {
        visibleTracks.retain(Set(list.map(\.sid)))
        if list.isEmpty {
            choice.callEnded()
        } else {
            applyPresentation()
        }
        await media.updateRole(of: call)
    }

    private func applyPresentation() {
        choice.setPresenting(
            call.participants.contains { $0.isHost && $0.identity != call.identity && $0.isOn(.screen) }
        )
    }

    private func setRinging(_ isRinging: Bool) {
        ringingState = isRinging
        ringingSubject.sendChange(isRinging)
    }

    /// Whether a state starts or stops the ringtone; nil if it does neither.
    nonisolated static func rings(_ state: CallingState) -> Bool? {
        switch state {
        case .incoming, .outgoing: true
        case .idle, .inCall: false
        case .lobby, .joining, .reconnecting: nil
        }
    }
}

/// The screen of a call that may ring.
public enum CallScreen: Sendable, Equatable {
    /// The app's own screen, without a call.
    case host
    /// Before joining.
    case lobby(LobbyInfo)
    /// A call rings here.
    case incoming(CallInvitation)
    /// A call rings at others.
    case outgoing
    /// Joining a call.
    case joining
    /// In a call, alone.
    case waiting
    /// In a call, with others.
    case call
    /// In a call, with others, minimized beside other content.
    case minimized
    /// In a call that is reconnecting.
    case reconnecting

    /// Chooses the screen.
    ///
    /// - Parameters:
    ///   - state: The state of the call.
    ///   - isEmpty: Whether there are no participants to show.
    ///   - isMinimized: Whether the user minimized the call.
    public init(_ state: CallingState, isEmpty: Bool, isMinimized: Bool) {
        self =
            switch state {
            case .idle: .host
            case .lobby(let info): .lobby(info)
            case .incoming(let invitation): .incoming(invitation)
            case .outgoing: .outgoing
            case .joining: .joining
            case .inCall where isEmpty: .waiting
            case .inCall: isMinimized ? .minimized : .call
            case .reconnecting: .reconnecting
            }
    }
}

/// A control of a call's screen.
public enum CallControl: Sendable, Hashable {
    /// Turns the camera on or off.
    case video
    /// Turns the microphone on or off.
    case microphone
    /// Switches between the front and the back camera.
    case toggleCamera
    /// Shares the screen.
    case screen
    /// Becomes a host.
    case joinStage
    /// Raises or lowers the hand.
    case raiseHand
    /// Becomes a viewer.
    case leaveStage
    /// Chooses the audio output.
    case audioOutput
    case hangUp
    /// A control of the app, by its name.
    case custom(String)

    /// The controls of every call between hosts.
    public static let standard: [CallControl] = [.video, .microphone, .toggleCamera, .hangUp]

    /// Returns the controls of a show for a participant's mode.
    ///
    /// Viewers capture nothing, and signalling-only participants play nothing either.
    public static func standard(for mode: ParticipantMode) -> [CallControl] {
        switch mode {
        case .sendAndReceive: [.video, .microphone, .toggleCamera, .screen, .leaveStage, .hangUp]
        case .receiveOnly: [.joinStage, .audioOutput, .hangUp]
        case .signallingOnly: [.hangUp]
        }
    }
}

/// The user's devices as a call displays them; by default everything is on, with the front camera.
public struct DeviceSettings: Sendable, Hashable {
    /// Whether the microphone is on.
    public var audioOn: Bool
    /// Whether the camera is on.
    public var videoOn: Bool
    /// Whether audio is played on the loudspeaker.
    public var speakerOn: Bool
    /// Whether audio is played at all.
    public var audioOutputOn: Bool
    /// The camera in use.
    public var cameraPosition: CallSettings.CameraPosition

    /// Creates settings; by default those of a new call.
    public init(
        audioOn: Bool = true,
        videoOn: Bool = true,
        speakerOn: Bool = true,
        audioOutputOn: Bool = true,
        cameraPosition: CallSettings.CameraPosition = .front
    ) {
        self.audioOn = audioOn
        self.videoOn = videoOn
        self.speakerOn = speakerOn
        self.audioOutputOn = audioOutputOn
        self.cameraPosition = cameraPosition
    }

    /// Whether any device is to be published.
    public var shouldPublish: Bool { audioOn || videoOn }
}
