public import Stage

/// What plays sound to the user; an app that plays none needs to do nothing.
@MainActor
public protocol AudioPlaying: AnyObject {
    /// Stops playing while something else needs the sound of the device.
    func pauseAudio() async

    /// Plays again.
    func resumeAudio() async

    /// The outputs there are, in the order in which they are to be offered; never empty.
    var audioRoutes: [AudioRoute] { get }

    /// The output by which sound is heard now.
    var audioRoute: AudioRoute { get }

    /// Tells each time that outputs come or go, or the system chose another one.
    func audioRouteChanges() -> AsyncStream<Void>

    /// Plays by another output from now on.
    ///
    /// - Throws: 3073 for one that is not there.
    func choose(_ route: AudioRoute) async throws(StageError)
}

extension AudioPlaying {
    /// Does nothing.
    public func pauseAudio() async {}

    /// Does nothing.
    public func resumeAudio() async {}

    /// The loudspeaker alone.
    public var audioRoutes: [AudioRoute] { [.speaker] }

    /// The loudspeaker.
    public var audioRoute: AudioRoute { .speaker }

    /// Tells of nothing.
    public func audioRouteChanges() -> AsyncStream<Void> { AsyncStream { $0.finish() } }

    /// Knows the loudspeaker alone.
    public func choose(_ route: AudioRoute) async throws(StageError) {
        guard route == .speaker else { throw .audioRouteMissing }
    }
}
