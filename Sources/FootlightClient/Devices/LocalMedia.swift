public import Observation
public import Stage

/// The user's microphone and camera: what is captured, what is published, and what is held back for a while.
///
/// ## Overview
///
/// - **Off is unpublished.** Turning a device off takes its track off the air and ends the capture; turning it on makes
///   a new track. The same value twice does nothing.
/// - **Interrupted and on hold are disabled.** The track stays, and so does the place on stage. An end of an
///   interruption brings back what the user has not turned off meanwhile. While sound is interrupted nothing is
///   recorded or played.
/// - **Without a call** only the values change, and ``BroadcastCall/callSettings`` with them: what the user touched
///   counts at the join, what was never touched the gateway decides.
/// - **In a call** a value changes once the gateway has agreed.
/// - **A line that breaks** says nothing of a device: what was to be on the air is tried again until it is there, or
///   the call is over. A change that was asked for and failed is not made later; the value is what it was.
///
/// Whoever owns it tells of the call's beginning and end with ``entered(isHost:)`` and ``left()``; the models of this
/// library do.
@MainActor @Observable
public final class LocalMedia {
    /// Whether the microphone is on.
    public private(set) var isMicOn = true
    /// Whether the camera is on.
    public private(set) var isCameraOn = true
    /// Which camera.
    public private(set) var cameraPosition = CallSettings.CameraPosition.front
    /// Whether something else uses the camera at this moment.
    public private(set) var isCameraInterrupted = false
    /// Whether something else needs the sound at this moment, which is neither recorded nor played then.
    public private(set) var isAudioInterrupted = false
    /// Whether a system call holds this one.
    public internal(set) var isOnHold = false
    /// The outputs by which sound can be heard.
    public internal(set) var audioRoutes: [AudioRoute]
    /// The output by which it is heard.
    public internal(set) var audioRoute: AudioRoute
    /// The latest failure of a device or of its track.
    public private(set) var problem: StageError?

    /// Whether anything is to be published.
    public var shouldPublish: Bool { isMicOn || isCameraOn }

    @ObservationIgnored let publisher: any TrackPublishing
    @ObservationIgnored let capture: any MediaCapturing
    @ObservationIgnored private var devices: [TrackName: DeviceState] = [:]
    @ObservationIgnored private(set) var capturing: Set<TrackName> = []
    /// The microphone of a preview is captured as soon as the sound is not interrupted any more.
    @ObservationIgnored var awaitsMic = false
    /// The work on each device, one after the other.
    @ObservationIgnored private var work: [TrackName: Task<StageError?, Never>] = [:]
    /// What waits to be tried again after the line broke.
    @ObservationIgnored private var repeats: [TrackName: Task<Void, Never>] = [:]
    @ObservationIgnored private var delays: [TrackName: Backoff] = [:]
    @ObservationIgnored private let clock: ClientClock
    @ObservationIgnored private(set) var isOnStage = false
    @ObservationIgnored private var defaults = LocalMedia.untouched
    @ObservationIgnored let routeNews: CurrentValue<AudioRoute>
    @ObservationIgnored private var routeTask: Task<Void, Never>?
    /// Counts calls, so that work of one never reaches into the next.
    @ObservationIgnored private var turn = 0

    private static let untouched = CallSettings(
        isAudioOn: true,
        isVideoOn: true,
        cameraPosition: .front
    )

    /// Makes the devices of one user.
    ///
    /// - Parameters:
    ///   - publisher: Takes tracks on and off the air.
    ///   - capture: The devices themselves.
    ///   - clock: Counts the delays before something is tried again.
    public init(publisher: any TrackPublishing, capture: any MediaCapturing, clock: ClientClock = .system) {
        self.publisher = publisher
        self.capture = capture
        self.clock = clock
        audioRoutes = capture.audioRoutes
        audioRoute = capture.audioRoute
        routeNews = CurrentValue(capture.audioRoute, waiting: 1)
        readSettings()
        routeTask = Task { [weak self, changes = capture.audioRouteChanges()] in
            for await _ in changes { self?.readRoutes() }
        }
    }

    deinit {
        routeTask?.cancel()
        for task in repeats.values { task.cancel() }
    }

    /// Turns the microphone on or off.
    ///
    /// - Throws: What the capture or the gateway says; the value is what it was.
    public func setMic(_ isOn: Bool) async throws(StageError) {
        try await set(.mic, isOn)
    }

    /// Turns the camera on or off; a camera that cannot start stays off, and nothing is published.
    ///
    /// - Throws: What the capture or the gateway says.
    public func setCamera(_ isOn: Bool) async throws(StageError) {
        try await set(.camera, isOn)
    }

    /// Takes the other camera; the track stays the one it is, and while the camera is off only the value changes.
    ///
    /// - Throws: What the capture says; the value is what it was.
    public func flipCamera() async throws(StageError) {
        let next: CallSettings.CameraPosition = cameraPosition == .front ? .back : .front
        if capturing.contains(.camera) { try await capture.use(next) }
        cameraPosition = next
        publisher.callSettings.cameraPosition = next
    }

    /// Begins to capture what is on, for a preview; what cannot begin is off.
    public func beginCapture() async {
        for track in [TrackName.mic, .camera] { await preview(track) }
    }

    /// Begins to capture a device that is on, outside of a call; one that cannot begin is off.
    func preview(_ track: TrackName) async {
        guard device(track).isWanted else { return }
        do throws(StageError) {
            try await begin(track)
        } catch {
            problem = error
            show(track, false)
            keep(track, false)
        }
    }

    // MARK: The call

    /// The call stands, or stands again; a host's devices are captured and published as they are set.
    ///
    /// For anybody else, such as a host who stepped down, both end; the settings remember what is to come back.
    public func entered(isHost: Bool) async {
        if isHost != isOnStage { turn += 1 }
        let isNew = isHost && !isOnStage
        isOnStage = isHost
        for track in [TrackName.mic, .camera] {
            if isHost {
                await run(track, isNew ? wish(track) : device(track).isWanted)
            } else {
                devices[track]?.unpublished()
                await end(track)
                show(track, false)
            }
        }
    }

    /// The participant went on stage or stepped down.
    public func follow(isHost: Bool) async {
        if isHost != isOnStage { await entered(isHost: isHost) }
    }

    /// The call is over: captures end, and the devices are as those of a new client.
    public func left() async {
        turn += 1
        isOnStage = false
        let tracks = Array(capturing)
        // What interrupts the sound does not end with the call, and will tell of its own end.
        devices = isAudioInterrupted ? [.mic: DeviceState(isWanted: true, isInterrupted: true)] : [:]
        awaitsMic = false
        defaults = Self.untouched
        isCameraInterrupted = false
        isOnHold = false
        for task in repeats.values { task.cancel() }
        repeats = [:]
        for track in tracks { await end(track) }
        readSettings()
    }

    /// What the gateway has on for devices the user has not touched.
    public func takeDefaults(_ settings: CallSettings) {
        defaults = settings
        readSettings()
    }

    private func readSettings() {
        guard !isOnStage else { return }
        isMicOn = wish(.mic)
        isCameraOn = wish(.camera)
        cameraPosition = publisher.callSettings.cameraPosition ?? defaults.cameraPosition ?? .front
        for track in devices.keys { devices[track]?.isWanted = wish(track) }
    }

    private func wish(_ track: TrackName) -> Bool {
        let settings = publisher.callSettings
        return track == .mic
            ? settings.isAudioOn ?? defaults.isAudioOn ?? true
            : settings.isVideoOn ?? defaults.isVideoOn ?? true
    }

    // MARK: One device

    private func set(_ track: TrackName, _ isOn: Bool) async throws(StageError) {
        guard isOn != device(track).isWanted else { return }
        guard isOnStage else {
            if isOn { try await begin(track) } else { await end(track) }
            show(track, isOn)
            return keep(track, isOn)
        }
        if let error = await run(track, isOn, isAskedFor: true) { throw error }
        // By now it may be wanted otherwise.
        keep(track, device(track).isWanted)
    }

    private func keep(_ track: TrackName, _ isOn: Bool) {
        if track == .mic {
            publisher.callSettings.isAudioOn = isOn
        } else {
            publisher.callSettings.isVideoOn = isOn
        }
    }

    func device(_ track: TrackName) -> DeviceState {
        devices[track] ?? DeviceState(isWanted: track == .mic ? isMicOn : isCameraOn)
    }

    private func show(_ track: TrackName, _ isOn: Bool) {
        want(track, isOn)
        if track == .mic { isMicOn = isOn } else { isCameraOn = isOn }
    }

    private func want(_ track: TrackName, _ isWanted: Bool) {
        var device = device(track)
        device.isWanted = isWanted
        devices[track] = device
    }

    /// Changes what holds a device back.
    ///
    /// - Returns: Whether that made a difference.
    func mark(_ track: TrackName, _ change: (inout DeviceState) -> Void) -> Bool {
        var device = device(track)
        let before = device
        change(&device)
        devices[track] = device
        isCameraInterrupted = self.device(.camera).isInterrupted
        isAudioInterrupted = self.device(.mic).isInterrupted
        return device != before
    }

    /// Brings a device to where it is wanted, after whatever is being done with it already.
    ///
    /// - Parameter isAskedFor: Somebody waits to hear whether the wish came true; one that did not is taken back.
    @discardableResult
    func run(_ track: TrackName, _ isWanted: Bool, isAskedFor: Bool = false) async -> StageError? {
        repeats.removeValue(forKey: track)?.cancel()
        want(track, isWanted)
        let (before, turn) = (work[track], turn)
        let task = Task { [weak self] () -> StageError? in
            _ = await before?.value
            return await self?.settle(track, turn, asked: isAskedFor ? isWanted : nil)
        }
        work[track] = task
        return await task.value
    }

    private func settle(_ track: TrackName, _ turn: Int, asked: Bool?) async -> StageError? {
        do throws(StageError) {
            while turn == self.turn {
                if device(track).isWanted { try await begin(track) }
                // Recording does not go on until the gateway has answered.
                if track == .mic, isAudioInterrupted { await end(track) }
                guard turn == self.turn else { return nil }
                guard let step = device(track).step else { break }
                try await take(step, track)
                guard turn == self.turn else { return nil }
                devices[track]?.done(step)
            }
            guard turn == self.turn else { return nil }
            if !device(track).isWanted { await end(track) }
            show(track, device(track).isWanted)
            delays[track] = nil
            return nil
        } catch {
            guard turn == self.turn else { return error }
            problem = error
            if error.isBrokenLine {
                await keepWish(of: track, turn, error, asked: asked)
            } else {
                // What could not begin is off; what could not end is still there.
                let isThere = devices[track]?.published != nil
                if !isThere { await end(track) }
                show(track, isThere)
            }
            return error
        }
    }

    /// The line broke, which says nothing of the device: it stays wanted as it was before anybody asked.
    private func keepWish(of track: TrackName, _ turn: Int, _ error: StageError, asked: Bool?) async {
        if !error.isUnsent { devices[track]?.becomeUnsure() }
        // Meanwhile it may have been asked for otherwise, and whoever did is answered next.
        if let asked, device(track).isWanted == asked { show(track, !asked) }
        if !device(track).isWanted { await end(track) }
        if turn == self.turn, device(track).step != nil { tryAgain(track) }
    }

    private func tryAgain(_ track: TrackName) {
        var delay = delays[track] ?? Backoff(ClientLimits())
        let pause = delay.next(chance: clock.chance())
        delays[track] = delay
        repeats[track]?.cancel()
        repeats[track] = Task { [weak self, clock, turn] in
            do {
                try await clock.sleep(pause)
            } catch {
                // Something newer is being done, or the call is over.
                return
            }
            guard let self, turn == self.turn else { return }
            self.repeats[track] = nil
            await self.run(track, self.device(track).isWanted)
        }
    }

    private func take(_ step: DeviceState.Step, _ track: TrackName) async throws(StageError) {
        do {
            switch step {
            case .publish(let isEnabled): try await publisher.publish(track, isEnabled: isEnabled)
            case .setEnabled(let isEnabled): try await publisher.setEnabled(track, isEnabled)
            case .unpublish: try await publisher.unpublish(track)
            }
        } catch {
            switch (step, error.code) {
            // The call publishes at its beginning, too.
            case (.publish(let isEnabled), StageError.trackNameDuplicated.code):
                try await publisher.setEnabled(track, isEnabled)
            case (.unpublish, StageError.trackNotFound.code): break
            default: throw error
            }
        }
    }

    private func begin(_ track: TrackName) async throws(StageError) {
        if track == .mic, isAudioInterrupted {
            awaitsMic = true
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

    func end(_ track: TrackName) async {
        if track == .mic { awaitsMic = false }
        guard capturing.remove(track) != nil else { return }
        await capture.stop(track)
    }
}
