/// Counters of no room, which go on where an earlier run left them, so that nobody sees them fall.
public struct RunCounters: Sendable, Equatable, Codable {
    /// How long viewers waited for their first media.
    public var startups: StartupHistogram
    /// Playlist and segment requests of viewers, and beacons.
    public var beats: Int

    /// Counters as given.
    public init(startups: StartupHistogram = .init(), beats: Int = 0) {
        self.startups = startups
        self.beats = beats
    }
}
