/// What was counted of viewers and not by rooms; it goes on where an earlier run left it, so that nobody sees it fall.
public struct RunCounters: Sendable, Equatable, Codable {
    /// How long viewers waited for their first media.
    public var startups: StartupHistogram
    /// Playlist and segment requests of viewers, and beacons.
    public var beats: Int
    /// By how much what logs tell comes late, in milliseconds; nil where there are none.
    public var logLag: Int64?

    /// The most that a run takes over of an earlier one's counter, so that there is always room to count on.
    static let most = 1 << 50

    /// The most that logs are taken to lag, in milliseconds: an hour.
    static let mostLag: Int64 = 3_600_000

    /// Counters as given.
    public init(startups: StartupHistogram = .init(), beats: Int = 0, logLag: Int64? = nil) {
        self.startups = startups
        self.beats = beats
        self.logLag = logLag
    }
}
