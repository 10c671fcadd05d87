public import HLS
public import Media
import Stage
import Synchronization

/// The HLS programs of all rooms, including recently ended ones, so that players can read the end of the playlist.
public final class HLSDirectory: Sendable {
    private struct Entry {
        let audience: FeedAudience
        var programs: HLSRenditions
        /// When the room ended; nil while it exists.
        var endedAt: MonotonicTime?
        /// When a player was last told that no segment is available yet.
        var lastRequestAt: MonotonicTime?

        func isRequested(at now: MonotonicTime) -> Bool {
            endedAt == nil && lastRequestAt.map { now.seconds(since: $0) < HLSDirectory.retryWindow } ?? false
        }
    }

    /// The time for which an ended program stays available, in seconds.
    private static let endedRetention = 60.0
    /// The time for which a player that was told to retry counts as waiting, in seconds.
    private static let retryWindow = 10.0

    private let configuration: HLSConfiguration
    private let clock: any MonotonicClock
    private let firstNumber: @Sendable () -> Int
    private let entries = Mutex<[String: Entry]>([:])
    /// The rooms that not everyone may watch.
    private let privateRooms = Mutex<Set<String>>([])

    /// Creates a directory from its parts.
    ///
    /// - Parameter firstNumber: Returns the first segment number of a program that starts now; must not decrease.
    public init(
        configuration: HLSConfiguration,
        clock: any MonotonicClock = SystemClock(),
        firstNumber: @escaping @Sendable () -> Int = { 0 }
    ) {
        self.configuration = configuration
        self.clock = clock
        self.firstNumber = firstNumber
    }

    /// Returns the room's program, and creates it if there is none or the room had ended.
    public func open(_ room: String) -> HLSProgram { open(room, renditions: []).program }

    /// Returns the room's program and its renditions, created as in `open(_:)`.
    ///
    /// - Parameter isExpected: Whether a new program is expected without a command, so that requests wait for it.
    func open(_ room: String, renditions: [String], isExpected: Bool = false) -> HLSRenditions {
        entries.withLock { entries in
            if let entry = entries[room], entry.endedAt == nil { return entry.programs }
            let programs = HLSRenditions(
                configuration: configuration,
                renditions: renditions,
                first: firstNumber(),
                isExpected: isExpected
            )
            let audience = FeedAudience(of: room)
            programs.setPrivate(!audience.isCounted || privateRooms.withLock { $0.contains(room) })
            entries[room] = Entry(audience: audience, programs: programs)
            return programs
        }
    }

    /// Returns the room's program; nil if there is none.
    public func program(_ room: String) -> HLSProgram? { programs(room)?.program }

    /// Returns the room's program and its renditions; nil if there is none.
    func programs(_ room: String) -> HLSRenditions? {
        entries.withLock { $0[room]?.programs }
    }

    /// Sets whether not everyone may watch a room, now and in later programs.
    public func setPrivate(_ room: String, _ isPrivate: Bool) {
        privateRooms.withLock { rooms in
            if isPrivate { rooms.insert(room) } else { rooms.remove(room) }
        }
        programs(room)?.setPrivate(isPrivate)
    }

    /// Whether a room's program is expected without a command and not there yet.
    public func isResuming(_ room: String) -> Bool { programs(room)?.isResuming ?? false }

    /// Records that a player requested a program without segments.
    func asked(for room: String) {
        let now = clock.now
        entries.withLock { $0[room]?.lastRequestAt = now }
    }

    /// Records that a player requested a playlist of a program with segments.
    func played(_ room: String) {
        let now = clock.now
        entries.withLock { entries in
            // The mixer makes a feed without viewers as long as it is played; those who watch are counted elsewhere.
            if entries[room]?.audience.isCounted == false { entries[room]?.lastRequestAt = now }
        }
    }

    /// The rooms in which a viewer waits for the first segment.
    public var roomsWithWaitingPlayers: [String] {
        let now = clock.now
        return entries.withLock { entries in
            entries.filter { $1.audience.isCounted && $1.isRequested(at: now) }.map(\.key)
        }
    }

    /// Whether a player has requested a feed without viewers, such as a preview, in the last seconds.
    public func isRequested(_ name: String) -> Bool {
        let now = clock.now
        return entries.withLock { $0[name]?.isRequested(at: now) ?? false }
    }

    /// The bytes of media stored for each room, renditions included.
    public var storedBytes: [(room: String, bytes: Int)] {
        let programs = entries.withLock { entries in entries.map { ($0.key, $0.value.programs) } }
        return programs.map { room, programs in
            (room, ([programs.program] + programs.renditions.map(\.program)).reduce(0) { $0 + $1.storedBytes })
        }
    }

    /// Ends a room's program, which stays available for a minute.
    public func close(_ room: String) {
        let now = clock.now
        let ended = entries.withLock { entries -> HLSRenditions? in
            guard entries[room]?.endedAt == nil else { return nil }
            entries[room]?.endedAt = now
            return entries[room]?.programs
        }
        ended?.end()
    }

    /// Removes expired programs; call periodically.
    public func sweep() {
        let now = clock.now
        entries.withLock { entries in
            entries = entries.filter { now.seconds(since: $1.endedAt ?? now) < Self.endedRetention }
        }
    }
}

extension HLSConfiguration {
    /// The start of segment numbering in seconds since 1970: 1 January 2020.
    private static let numberingBegan = 1_577_836_800.0

    /// Returns the media sequence number of the first segment of a run.
    ///
    /// Players that continue over a restart know the numbers of the previous run, and a media sequence number must not
    /// decrease. Numbers therefore follow the wall clock, at twice the rate of segments, so that runs never overlap.
    ///
    /// - Parameter secondsSince1970: The wall clock at the start of the run.
    public func firstNumber(at secondsSince1970: Double) -> Int {
        max(0, Int((secondsSince1970 - Self.numberingBegan) / (segmentDuration / 2)))
    }
}
