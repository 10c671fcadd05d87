import FootlightModel
import Media
public import Observation
public import Stage

/// The user's microphone and camera: their capture, their tracks, and their interruptions.
///
/// ## Overview
///
/// - **Off means unpublished.** Turning a device off unpublishes its track and stops the capture; turning it on creates
///   a new track. Setting the same value again has no effect.
/// - **Interrupted and on hold mean disabled.** The track stays published and keeps its position. The end of an
///   interruption restores what the user has not turned off in the meantime. During an audio interruption nothing is
///   captured or played.
/// - **Without a call** only the values change, and ``BroadcastCall/callSettings`` with them: the user's choice is sent
///   with the join, and the gateway decides the others.
/// - **In a call** a value changes after the gateway has confirmed it.
/// - **After a connection loss** the wanted state is retried until the gateway has it or the call ends. A requested
///   change that failed is not retried; the value is unchanged.
///
/// The owner reports the beginning and end of the call with ``entered(isHost:)`` and ``left()``; the models of this
/// library do so.
@MainActor @Observable
public final class LocalMedia {
    /// Whether the microphone is on.
    public private(set) var isMicOn = true
    /// Whether the camera is on.
    public private(set) var isCameraOn = true
    /// The camera in use.
    public private(set) var cameraPosition = CallSettings.CameraPosition.front
    /// Whether another app uses the camera.
    public private(set) var isCameraInterrupted = false
    /// Whether audio is interrupted, and therefore neither captured nor played.
    public private(set) var isAudioInterrupted = false
    /// Whether a system call puts this call on hold.
    public internal(set) var isOnHold = false
    /// The available audio outputs.
    public internal(set) var audioRoutes: [AudioRoute]
    /// The current audio output.
    public internal(set) var audioRoute: AudioRoute
    /// The latest error of a device or its track.
    public private(set) var problem: StageError?

    /// Whether anything is to be published.
    public var shouldPublish: Bool { isMicOn || isCameraOn }

    @ObservationIgnored let publisher: any TrackPublishing
    @ObservationIgnored let capture: any MediaCapturing
    @ObservationIgnored private var devices: [TrackName: DeviceState] = [:]
    @ObservationIgnored private(set) var capturing: Set<TrackName> = []
    /// Whether the preview's microphone capture starts when the audio interruption ends.
    @ObservationIgnored var isMicPending = false
    /// The tasks of each device, which run one after the other.
    @ObservationIgnored private var work: [TrackName: Task<StageError?, Never>] = [:]
    /// Pending retries after a connection loss.
    @ObservationIgnored private var retryTasks: [TrackName: Task<Void, Never>] = [:]
    @ObservationIgnored private var delays: [TrackName: Backoff] = [:]
    @ObservationIgnored private let clock: ClientClock
    @ObservationIgnored private(set) var isOnStage = false
    @ObservationIgnored private var defaults = LocalMedia.untouched
    @ObservationIgnored let routeSubject: CurrentValue<AudioRoute>
    @ObservationIgnored private var routeTask: Task<Void, Never>?
    /// Incremented with each call, so that a task of one call does not affect the next.
    @ObservationIgnored private var generation = 0

    private static let untouched = CallSettings(
        isAudioOn: true,
        isVideoOn: true,
        cameraPosition: .front
    )

    /// Creates the devices of a user.
    ///
    /// - Parameters:
    ///   - publisher: Publishes and unpublishes the tracks.
    ///   - capture: The capture devices.
    ///   - clock: The clock of the retry delays.
    public init(publisher: any TrackPublishing, capture: any MediaCapturing, clock: ClientClock = .system) {
        self.publisher = publisher
        self.capture = capture
        self.clock = clock
        audioRoutes = capture.audioRoutes
        audioRoute = capture.audioRoute
        routeSubject = CurrentValue(capture.audioRoute, waiting: 1)
        readSettings()
        routeTask = Task { [weak self, changes = capture.audioRouteChanges()] in
            for await _ in changes { self?.readRoutes() }
        }
    }

    deinit {
        routeTask?.cancel()
        for task in retryTasks.values { task.cancel() }
    }

    /// Turns the microphone on or off.
    ///
    /// - Throws: The error of the capture or the gateway; the value is then unchanged.
    public func setMic(_ isOn: Bool) async throws(StageError) {
        try await set(.mic, isOn)
    }

    /// Turns the camera on or off; a camera that cannot start stays off and unpublished.
    ///
    /// - Throws: The error of the capture or the gateway.
    public func setCamera(_ isOn: Bool) async throws(StageError) {
        try await set(.camera, isOn)
    }

    /// Switches between the front and the back camera; the track stays, and while the camera is off only the value
    /// changes.
    ///
    /// - Throws: The error of the capture; the value is then unchanged.
    public func flipCamera() async throws(StageError) {
        let next: CallSettings.CameraPosition = cameraPosition == .front ? .back : .front
        if capturing.contains(.camera) { try await capture.use(next) }
        cameraPosition = next
        publisher.callSettings.cameraPosition = next
    }

    /// Starts the capture of devices that are on, for a preview; a device that cannot start is turned off.
    public func beginCapture() async {
        for track in [TrackName.mic, .camera] { await preview(track) }
    }

    /// Starts the capture of a device that is on, outside a call; a device that cannot start is turned off.
    func preview(_ track: TrackName) async {
        guard device(track).isWanted else { return }
        do throws(StageError) {
            try await startCapture(track)
        } catch {
            problem = error
            setShown(track, false)
            storeSetting(track, false)
        }
    }

    // MARK: The call

    /// Reports that the call is joined or reconnected; a host's devices are captured and published.
    ///
    /// For other participants, such as a former host, both end; the settings keep what to restore.
    public func entered(isHost: Bool) async {
        if isHost != isOnStage { generation += 1 }
        let isNew = isHost && !isOnStage
        isOnStage = isHost
        for track in [TrackName.mic, .camera] {
            if isHost {
                await run(track, isNew ? isRequested(track) : device(track).isWanted)
            } else {
                devices[track]?.unpublished()
                await stopCapture(track)
                setShown(track, false)
            }
        }
    }

    /// Reports that the participant became a host or stepped down.
    public func follow(isHost: Bool) async {
        if isHost != isOnStage { await entered(isHost: isHost) }
    }

    /// Reports that the call is over: captures end, and the devices are reset.
    public func left() async {
        generation += 1
        isOnStage = false
        let tracks = Array(capturing)
        // An audio interruption does not end with the call; its end is reported separately.
        devices = isAudioInterrupted ? [.mic: DeviceState(isWanted: true, isInterrupted: true)] : [:]
        isMicPending = false
        defaults = Self.untouched
        isCameraInterrupted = false
        isOnHold = false
        for task in retryTasks.values { task.cancel() }
        retryTasks = [:]
        for track in tracks { await stopCapture(track) }
        readSettings()
    }

    /// Sets the gateway's defaults for devices that the user has not changed.
    public func applyDefaults(_ settings: CallSettings) {
        defaults = settings
        readSettings()
    }

    private func readSettings() {
        guard !isOnStage else { return }
        isMicOn = isRequested(.mic)
        isCameraOn = isRequested(.camera)
        cameraPosition = publisher.callSettings.cameraPosition ?? defaults.cameraPosition ?? .front
        for track in devices.keys { devices[track]?.isWanted = isRequested(track) }
    }

    private func isRequested(_ track: TrackName) -> Bool {
        let settings = publisher.callSettings
        return track == .mic
            ? settings.isAudioOn ?? defaults.isAudioOn ?? true
            : settings.isVideoOn ?? defaults.isVideoOn ?? true
    }

    // MARK: One device

    private func set(_ track: TrackName, _ isOn: Bool) async throws(StageError) {
        guard isOn != device(track).isWanted else { return }
        guard isOnStage else {
            if isOn { try await startCapture(track) } else { await stopCapture(track) }
            setShown(track, isOn)
            return storeSetting(track, isOn)
        }
        if let error = await run(track, isOn, isRequestedByApp: true) { throw error }
        // The wanted value may have changed in the meantime.
        storeSetting(track, device(track).isWanted)
    }

    private func storeSetting(_ track: TrackName, _ isOn: Bool) {
        if track == .mic {
            publisher.callSettings.isAudioOn = isOn
        } else {
            publisher.callSettings.isVideoOn = isOn
        }
    }

    func device(_ track: TrackName) -> DeviceState {
        devices[track] ?? DeviceState(isWanted: track == .mic ? isMicOn : isCameraOn)
    }

    private func setShown(_ track: TrackName, _ isOn: Bool) {
        setWanted(track, isOn)
        if track == .mic { isMicOn = isOn } else { isCameraOn = isOn }
    }

    private func setWanted(_ track: TrackName, _ isWanted: Bool) {
        var device = device(track)
        device.isWanted = isWanted
        devices[track] = device
    }

    /// Changes the state of a device.
    ///
    /// - Returns: Whether the state changed.
    func updateDevice(_ track: TrackName, _ change: (inout DeviceState) -> Void) -> Bool {
        var device = device(track)
        let before = device
        change(&device)
        devices[track] = device
        isCameraInterrupted = self.device(.camera).isInterrupted
        isAudioInterrupted = self.device(.mic).isInterrupted
        return device != before
    }

    /// Brings a device to the wanted state, after its pending tasks.
    ///
    /// - Parameter isRequestedByApp: Whether the app awaits the result; a change that fails is then reverted.
    @discardableResult
    func run(_ track: TrackName, _ isWanted: Bool, isRequestedByApp: Bool = false) async -> StageError? {
        retryTasks.removeValue(forKey: track)?.cancel()
        setWanted(track, isWanted)
        let (before, generation) = (work[track], generation)
        let task = Task { [weak self] () -> StageError? in
            _ = await before?.value
            return await self?.reconcile(track, generation, requestedValue: isRequestedByApp ? isWanted : nil)
        }
        work[track] = task
        return await task.value
    }

    private func reconcile(_ track: TrackName, _ generation: Int, requestedValue: Bool?) async -> StageError? {
        do throws(StageError) {
            while generation == self.generation {
                if device(track).isWanted { try await startCapture(track) }
                // The capture stays stopped until the gateway has answered.
                if track == .mic, isAudioInterrupted { await stopCapture(track) }
                guard generation == self.generation else { return nil }
                guard let step = device(track).step else { break }
                try await perform(step, track)
                guard generation == self.generation else { return nil }
                devices[track]?.done(step)
            }
            guard generation == self.generation else { return nil }
            if !device(track).isWanted { await stopCapture(track) }
            setShown(track, device(track).isWanted)
            delays[track] = nil
            return nil
        } catch {
            guard generation == self.generation else { return error }
            problem = error
            if error.isConnectionLoss {
                await restoreAfterDisconnect(of: track, generation, error, requestedValue: requestedValue)
            } else {
                // A device that could not start is off; one that could not be unpublished is still on.
                let isThere = devices[track]?.published != nil
                if !isThere { await stopCapture(track) }
                setShown(track, isThere)
            }
            return error
        }
    }

    /// Keeps the state that was wanted before the request, because a connection loss does not affect the device.
    private func restoreAfterDisconnect(
        of track: TrackName,
        _ generation: Int,
        _ error: StageError,
        requestedValue: Bool?
    ) async {
        if !error.isNotSent { devices[track]?.markStateUnknown() }
        // The wanted value may have changed in the meantime; that request is answered next.
        if let requestedValue, device(track).isWanted == requestedValue { setShown(track, !requestedValue) }
        if !device(track).isWanted { await stopCapture(track) }
        if generation == self.generation, device(track).step != nil { scheduleRetry(track) }
    }

    private func scheduleRetry(_ track: TrackName) {
        var delay = delays[track] ?? Backoff(ClientLimits())
        let pause = Duration.seconds(delay.next(chance: clock.chance()))
        delays[track] = delay
        retryTasks[track]?.cancel()
        retryTasks[track] = Task { [weak self, clock, generation] in
            do {
                try await clock.sleep(pause)
            } catch {
                // A newer task has replaced the retry, or the call is over.
                return
            }
            guard let self, generation == self.generation else { return }
            self.retryTasks[track] = nil
            await self.run(track, self.device(track).isWanted)
        }
    }

    private func perform(_ step: DeviceState.Step, _ track: TrackName) async throws(StageError) {
        do {
            switch step {
            case .publish(let isEnabled): try await publisher.publish(track, isEnabled: isEnabled)
            case .setEnabled(let isEnabled): try await publisher.setEnabled(track, isEnabled)
            case .unpublish: try await publisher.unpublish(track)
            }
        } catch {
            switch (step, error.code) {
            // The call may have published the track already.
            case (.publish(let isEnabled), StageError.trackNameDuplicated.code):
                try await publisher.setEnabled(track, isEnabled)
            case (.unpublish, StageError.trackNotFound.code): break
            default: throw error
            }
        }
    }

    private func startCapture(_ track: TrackName) async throws(StageError) {
        if track == .mic, isAudioInterrupted {
            isMicPending = true
            return
        }
        guard capturing.insert(track).inserted else { return }
        do {
            try await capture.start(track, camera: cameraPosition)
        } catch {
            capturing.remove(track)
            throw error
        }
    }

    func stopCapture(_ track: TrackName) async {
        if track == .mic { isMicPending = false }
        guard capturing.remove(track) != nil else { return }
        await capture.stop(track)
    }
}

/// Devices that follow a call's state.
extension LocalMedia {
    /// Applies the status of the call.
    func apply(_ status: CallStatus, of call: BroadcastCall) async {
        switch status.phase {
        case .joined:
            applyServerSettings(of: call)
            await entered(isHost: call.localParticipant?.isHost ?? false)
        case .left: await left()
        default: break
        }
    }

    /// Applies the gateway's device settings of the room or its lobby.
    func applyServerSettings(of call: BroadcastCall) {
        guard let settings = call.serverSettings else { return }
        applyDefaults(
            CallSettings(
                isAudioOn: settings.audioOn,
                isVideoOn: settings.videoOn,
                cameraPosition: settings.cameraPosition.value
            )
        )
    }

    /// Follows the local participant's mode after the list of participants has changed.
    ///
    /// Reads the call's current state: the list may be older than a response that arrived since.
    func updateRole(of call: BroadcastCall) async {
        guard call.status.phase == .joined, let own = call.localParticipant else { return }
        await follow(isHost: own.isHost)
    }
}

/// Interruptions of devices, by another app or by the system.
extension LocalMedia {
    /// Reports that another app uses the camera.
    public func cameraInterruptionBegan() async {
        await setConstraint(.camera) { $0.isInterrupted = true }
    }

    /// Reports that the camera is available again.
    public func cameraInterruptionEnded() async {
        await setConstraint(.camera) { $0.isInterrupted = false }
    }

    /// Reports that an alarm or a telephone call interrupts audio: capture and playback pause.
    public func audioInterruptionBegan() async {
        guard updateDevice(.mic, { $0.isInterrupted = true }) else { return }
        await capture.pauseAudio()
        if isOnStage {
            await run(.mic, device(.mic).isWanted)
        } else if capturing.contains(.mic) {
            await stopCapture(.mic)
            isMicPending = true
        }
    }

    /// Reports the end of an audio interruption: playback resumes, and so does capture unless the microphone was turned
    /// off.
    ///
    /// A microphone that does not start again is reported as ``problem``.
    public func audioInterruptionEnded() async {
        guard updateDevice(.mic, { $0.isInterrupted = false }) else { return }
        await capture.resumeAudio()
        if isOnStage {
            await run(.mic, device(.mic).isWanted)
        } else if isMicPending {
            await preview(.mic)
        }
    }

    /// Reports that the app is in the background: the camera is disabled, the microphone continues.
    public func enteredBackground() async {
        await setConstraint(.camera) { $0.isHidden = true }
    }

    /// Reports that the app is in the foreground again.
    public func enteredForeground() async {
        await setConstraint(.camera) { $0.isHidden = false }
    }

    /// Puts this call on hold for a system call, or resumes it.
    public func setOnHold(_ isOnHold: Bool) async {
        self.isOnHold = isOnHold
        await setConstraint(.mic) { $0.isOnHold = isOnHold }
        await setConstraint(.camera) { $0.isOnHold = isOnHold }
    }

    /// Changes what disables a device, and in a call updates the gateway.
    private func setConstraint(_ track: TrackName, _ change: (inout DeviceState) -> Void) async {
        guard updateDevice(track, change), isOnStage else { return }
        await run(track, device(track).isWanted)
    }
}

/// The audio output.
extension LocalMedia {
    /// ``audioRoute``, now and from now on; buffers only the latest.
    public var currentAudioRoutes: AsyncStream<AudioRoute> { routeSubject.stream() }

    /// Switches to another audio output; the call's settings say whether it is the loudspeaker.
    ///
    /// - Throws: 3073 for an output that is not available, or the device's error; the output is then unchanged.
    public func choose(_ route: AudioRoute) async throws(StageError) {
        guard capture.audioRoutes.contains(route) else { throw .audioRouteMissing }
        try await capture.choose(route)
        publisher.callSettings.isSpeakerOn = route.kind == .speaker
        readRoutes()
    }

    /// Reads the outputs from the device.
    func readRoutes() {
        audioRoutes = capture.audioRoutes
        audioRoute = capture.audioRoute
        routeSubject.sendChange(audioRoute)
    }
}

/// The state of one device: what the user wants, and what the gateway has of it.
///
/// A device that is off is unpublished; one that is interrupted or on hold is disabled, and keeps its track and
/// position.
struct DeviceState: Sendable, Equatable {
    /// A request to the gateway.
    enum Step: Sendable, Equatable {
        case publish(isEnabled: Bool)
        case setEnabled(Bool)
        case unpublish
    }

    /// Whether the user wants the device on.
    var isWanted: Bool
    /// Whether another app or the system uses the device.
    var isInterrupted = false
    /// Whether the app is in the background.
    var isHidden = false
    /// Whether a system call puts this call on hold.
    var isOnHold = false
    /// The track as the gateway has it: nil if unpublished, otherwise whether it is enabled.
    private(set) var published: Bool?
    /// Whether a request was sent but not answered, so that `published` may be wrong.
    private(set) var isStateUnknown = false

    /// Whether a published track is to be enabled.
    var isEnabled: Bool { !isInterrupted && !isHidden && !isOnHold }

    /// The next request that makes the gateway match the wanted state; nil if it does.
    var step: Step? {
        if isStateUnknown { return isWanted ? .publish(isEnabled: isEnabled) : .unpublish }
        return switch (isWanted, published) {
        case (true, nil): .publish(isEnabled: isEnabled)
        case (true, .some(let enabled)): enabled == isEnabled ? nil : .setEnabled(isEnabled)
        case (false, .some): .unpublish
        case (false, nil): nil
        }
    }

    /// Records that the gateway has confirmed a request.
    mutating func done(_ step: Step) {
        switch step {
        case .publish(let isEnabled), .setEnabled(let isEnabled): published = isEnabled
        case .unpublish: published = nil
        }
        isStateUnknown = false
    }

    /// Records that the gateway has no such track.
    mutating func unpublished() {
        published = nil
        isStateUnknown = false
    }

    /// Records that the gateway's state is unknown.
    mutating func markStateUnknown() {
        isStateUnknown = true
    }
}

extension StageError {
    /// Whether the error only reports a lost connection, or a reconnect in progress.
    var isConnectionLoss: Bool {
        let codes = [StageError.callNotConnected, .callConnectionLost, .reconnecting, .requestCancelled].map(\.code)
        return codes.contains(code)
    }

    /// Whether the request was not sent, because the connection was lost.
    var isNotSent: Bool { code == StageError.reconnecting.code }
}
