public import GatewayModel
public import Observation
public import Stage

/// A call that may ring, from the lobby to the goodbye, as its screens need it.
///
/// ## Overview
///
///     let model = CallingModel(call: call, capture: capture)
///     model.joinCall("show")                        // callingState is `joining` at once
///     switch model.screen { case .call: …  }        // one value says what is to be seen
///
/// A wish of the user returns at once, and ``callingState`` tells what comes of it; a wish that does not fit where the
/// call stands is ignored. Calls ring here once ``listen()`` was called.
@MainActor @Observable
public final class CallingModel {
    /// The call itself.
    public let call: BroadcastCall
    /// The user's devices.
    public let media: LocalMedia

    /// The call is shown beside something else; the end of a call takes it back.
    public var isMinimized = false
    /// The rules by which participants are put in order.
    public var comparators = ParticipantComparator.defaultComparators
    /// Who is visible now, and how large; of use to the app and to rules that leave visible ones in place.
    public private(set) var visibleTracks = VisibleTracks()

    private var choice = LayoutChoice()
    private var chosenControls: [CallControl]?
    private var ringingNow = false
    /// The status last heard of was not that of nobody in a call.
    @ObservationIgnored private var isUnderWay = false
    @ObservationIgnored private let ringingNews = CurrentValue(false, waiting: 16)
    @ObservationIgnored private var tasks: [Task<Void, Never>] = []

    /// Makes the model of a call.
    public init(call: BroadcastCall, capture: any MediaCapturing) {
        self.call = call
        call.publishesTracks = false
        media = LocalMedia(publisher: call, capture: capture, clock: call.clock)
        tasks = [
            Task { [weak self, statuses = call.statuses] in
                for await status in statuses { await self?.take(status) }
            },
            Task { [weak self, lists = call.participantLists] in
                for await list in lists { await self?.take(list) }
            },
            Task { [weak self, rooms = call.lobbyRooms] in
                for await _ in rooms { self?.takeLobby() }
            },
        ]
    }

    deinit { for task in tasks { task.cancel() } }

    // MARK: What is to be seen

    /// Where the call stands.
    public var callingState: CallingState { call.status.callingState }
    /// What ended the last attempt; nil while there is nothing to tell.
    public var error: StageError? { call.status.error }
    /// The screen to be shown.
    public var screen: CallScreen {
        CallScreen(callingState, isEmpty: participants.isEmpty, isMinimized: isMinimized)
    }
    /// Everybody in the room by sid.
    public var callParticipants: [String: ParticipantResource] {
        Dictionary(call.participants.map { ($0.sid, $0) }) { first, _ in first }
    }
    /// Oneself; nil outside of a room.
    public var localParticipant: ParticipantResource? { call.localParticipant }
    /// Who has a place in the layout, in order.
    public var participants: [ParticipantResource] { displayed.participants }
    /// Whether the local picture floats above the others.
    public var isLocalFloating: Bool { displayed.isLocalFloating }
    /// The layout.
    public var layout: ParticipantsLayout { choice.layout }
    /// What the screen of a call offers: what the app has set, else what suits the participant's mode.
    public var controls: [CallControl] {
        get { chosenControls ?? standardControls }
        set { chosenControls = newValue }
    }
    private var standardControls: [CallControl] {
        switch localParticipant.flatMap({ ParticipantMode(wireName: $0.mode) }) {
        case .sendAndReceive, nil: CallControl.standard
        case .receiveOnly: CallControl.standard(for: .receiveOnly)
        case .signallingOnly: CallControl.standard(for: .signallingOnly)
        }
    }
    /// Whether a sound is to be heard because a call rings.
    public var isRinging: Bool { ringingNow }
    /// `isRinging`, now and from now on.
    public var ringing: AsyncStream<Bool> { ringingNews.stream() }
    /// The invitation to the stage that is open; nil without one.
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

    private func takeLobby() {
        media.takeServerSettings(of: call)
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

    // MARK: Wishes

    /// Hears of calls from others.
    public func listen() {
        call.startListening()
    }

    /// Looks at a call before joining it.
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

    /// Begins a call; one that rings is joined when the first of the members accepts.
    ///
    /// - Parameters:
    ///   - members: Identities to call; nobody is called without `ring`.
    ///   - timeout: Seconds it rings.
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

    /// Takes the call that comes in, or the invitation to the stage.
    public func acceptCall() {
        call.accept()
    }

    /// Declines it.
    public func rejectCall() {
        call.reject()
    }

    /// Leaves, whatever the phase.
    public func hangUp() {
        call.hangUp()
    }

    /// Chooses a layout; from now on nothing else does, to the end of the call.
    public func choose(_ layout: ParticipantsLayout) {
        choice.choose(layout)
    }

    /// Somebody came into view, or went out of it.
    public func changeTrackVisibility(_ sid: String, isVisible: Bool) {
        visibleTracks.setVisible(sid, isVisible)
    }

    /// Somebody is shown this large.
    public func updateTrackSize(_ sid: String, _ size: VisibleTracks.Size) {
        visibleTracks.setSize(sid, size)
    }

    /// The call's screen is seen: what is on begins to be captured.
    public func enteredCallView() async {
        await media.beginCapture()
    }

    // MARK: Devices

    /// Turns the microphone on or off; in a call the value changes once the gateway has agreed.
    public func toggleMicrophone() async throws(StageError) {
        try await media.setMic(!media.isMicOn)
    }

    /// Turns the camera on or off; in a call the value changes once the gateway has agreed.
    public func toggleCamera() async throws(StageError) {
        try await media.setCamera(!media.isCameraOn)
    }

    /// Takes the other camera; while the camera is off only the value changes.
    public func toggleCameraPosition() async throws(StageError) {
        try await media.flipCamera()
    }

    /// Lets sound come from the loudspeaker, or not.
    public func toggleSpeaker() {
        call.callSettings.isSpeakerOn = !callSettings.speakerOn
    }

    /// Plays sound, or not.
    public func toggleAudioOutput() {
        call.callSettings.isAudioOutputOn = !callSettings.audioOutputOn
    }

    // MARK: News

    private func take(_ status: CallStatus) async {
        setRinging(Self.rings(status.callingState) ?? ringingNow)
        if status.callingState != .idle {
            isUnderWay = true
        } else if isUnderWay {
            // What was before the first call is no end of one; and the next call may have begun by now.
            isUnderWay = false
            isMinimized = false
            choice.callEnded()
            takePresentation()
        }
        await media.take(status, of: call)
    }

    private func take(_ list: [ParticipantResource]) async {
        visibleTracks.keep(Set(list.map(\.sid)))
        if list.isEmpty {
            choice.callEnded()
        } else {
            takePresentation()
        }
        await media.takeParticipants(of: call)
    }

    private func takePresentation() {
        choice.setPresenting(
            call.participants.contains { $0.isHost && $0.identity != call.identity && $0.isOn(.screen) }
        )
    }

    private func setRinging(_ isRinging: Bool) {
        ringingNow = isRinging
        ringingNews.sendChange(isRinging)
    }

    /// Whether a state begins the ringing sound or ends it; nil where it goes on as it is.
    nonisolated static func rings(_ state: CallingState) -> Bool? {
        switch state {
        case .incoming, .outgoing: true
        case .idle, .inCall: false
        case .lobby, .joining, .reconnecting: nil
        }
    }
}
