public import Foundation
public import Stage

/// How many watch a room, and how many did during its present broadcast.
///
/// Live figures are provisional: they hold the viewers by requests (HLS) that are gone but not yet timed out. In every
/// snapshot `concurrent` is the sum of `byProtocol`, and `joins - leaves == concurrent + resumable`.
public struct RoomViewership: Sendable, Equatable {
    /// The room's unique name; empty in the total over all rooms.
    public var room: String
    /// Viewer sessions that count now.
    public var concurrent: Int
    /// Distinct viewers among them: several players of one participant are one.
    public var devices: Int
    /// Those of `concurrent` that belong to no participant.
    public var anonymous: Int
    /// The most that ever counted at once in this broadcast; provisional like `concurrent`.
    public var peak: Int
    /// When the peak was first reached; nil before the first viewer.
    public var peakAt: Date?
    /// Sessions that were proven to watch; a return within the grace time is not a second join.
    public var joins: Int
    /// Sessions that ended for good.
    public var leaves: Int
    /// Sessions that ended and may still come back; neither live nor left.
    public var resumable: Int
    /// Time watched by everybody so far: of those who left to their last sign of life and half a poll.
    public var watchTimeSeconds: Double
    /// The moment the figures are of.
    public var asOf: Date
    /// How long ago the time-outs were last looked at; milliseconds, below about 1000 in a healthy gateway.
    public var staleMs: Int
    /// The gateway was restarted and viewers of before are still being taken over.
    public var recovering: Bool
    /// `concurrent` by the way of watching; every way has its entry.
    public var byProtocol: [PlaybackProtocol: Int]
    /// `joins` by the way of watching at the time; every way has its entry.
    public var joinsByProtocol: [PlaybackProtocol: Int]

    /// Figures as given; zeros where nothing is.
    public init(
        room: String,
        concurrent: Int = 0,
        devices: Int = 0,
        anonymous: Int = 0,
        peak: Int = 0,
        peakAt: Date? = nil,
        joins: Int = 0,
        leaves: Int = 0,
        resumable: Int = 0,
        watchTimeSeconds: Double = 0,
        asOf: Date,
        staleMs: Int = 0,
        recovering: Bool = false,
        byProtocol: [PlaybackProtocol: Int] = [:],
        joinsByProtocol: [PlaybackProtocol: Int] = [:]
    ) {
        self.room = room
        self.concurrent = concurrent
        self.devices = devices
        self.anonymous = anonymous
        self.peak = peak
        self.peakAt = peakAt
        self.joins = joins
        self.leaves = leaves
        self.resumable = resumable
        self.watchTimeSeconds = watchTimeSeconds
        self.asOf = asOf
        self.staleMs = staleMs
        self.recovering = recovering
        self.byProtocol = byProtocol
        self.joinsByProtocol = joinsByProtocol
    }
}

extension RoomViewership {
    /// The figures that the shards' counters add up to at `now` (monotonic milliseconds).
    init(room: String, counters: RoomCounters, now: Int64, asOf: Date) {
        let live = counters.live.sum
        self.init(
            room: room,
            concurrent: live,
            devices: live - counters.surplus,
            anonymous: live - counters.attributed - counters.live[.sdk],
            joins: (counters.joins - counters.baseline.joins).sum,
            leaves: (counters.leaves - counters.baseline.leaves).sum.sum,
            resumable: counters.resumable,
            watchTimeSeconds: Double((counters.watch(at: now) - counters.baseline.watch).sum) / 1000,
            asOf: asOf,
            byProtocol: Self.dictionary { counters.live[$0] },
            joinsByProtocol: Self.dictionary { counters.joins[$0] - counters.baseline.joins[$0] }
        )
    }

    private static func dictionary(_ value: (PlaybackProtocol) -> Int) -> [PlaybackProtocol: Int] {
        Dictionary(uniqueKeysWithValues: PlaybackProtocol.allCases.map { ($0, value($0)) })
    }
}
