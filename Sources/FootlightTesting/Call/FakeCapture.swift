#if canImport(FootlightClient)
public import FootlightClient
public import Stage

/// Devices that are only played: what was begun and ended is noted, and a start may be made to fail.
@MainActor
public final class FakeCapture: MediaCapturing {
    /// Devices the user allows.
    public var authorized: Set<TrackName> = [.mic, .camera]
    /// What keeps devices from starting.
    public var failures: [TrackName: StageError] = [:]
    /// What was done, in order, such as `start camera front`.
    public private(set) var log: [String] = []
    /// What is captured now.
    public private(set) var running: Set<TrackName> = []

    /// The outputs of sound; may be set to play that one comes or goes, and the first one takes the place of one that went.
    public var audioRoutes = [AudioRoute.speaker] {
        didSet {
            if !audioRoutes.contains(audioRoute) { audioRoute = audioRoutes.first ?? .speaker }
            routeChange?.yield()
        }
    }
    /// The output in use.
    public private(set) var audioRoute = AudioRoute.speaker
    private var routeChange: AsyncStream<Void>.Continuation?

    /// Makes devices that work.
    public init() {}

    /// Whether the user allows a device to be used.
    public func isAuthorized(for track: TrackName) async -> Bool {
        authorized.contains(track)
    }

    /// Notes that a device was to start, or fails as it was told.
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

    /// Notes that a device was stopped.
    public func stop(_ track: TrackName) async {
        running.remove(track)
        log.append("stop \(track.rawValue)")
    }

    /// Tells whoever asked last of changes of the outputs.
    public func audioRouteChanges() -> AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { routeChange = $0 }
    }

    /// Notes that another output was to be used.
    public func choose(_ route: AudioRoute) async throws(StageError) {
        audioRoute = route
        log.append("choose \(route.id)")
    }

    /// Notes that playback was to stop.
    public func pauseAudio() async {
        log.append("pause audio")
    }

    /// Notes that playback was to go on.
    public func resumeAudio() async {
        log.append("resume audio")
    }

    /// Notes that the other camera was taken.
    public func use(_ camera: CallSettings.CameraPosition) async throws(StageError) {
        if let failure = failures[.camera] { throw failure }
        log.append("use \(camera.rawValue)")
    }
}
#endif
