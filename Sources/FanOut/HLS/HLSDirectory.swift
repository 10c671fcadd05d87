public import HLS
public import Media
import Synchronization

/// The HLS programs of all rooms, and for a while those of rooms that ended, so that players see the end of the list.
public final class HLSDirectory: Sendable {
    private struct Entry {
        var programs: HLSRenditions
        /// When the room ended; nil while it goes on.
        var endedAt: MonotonicTime?
        /// When a player was last told that there is nothing to play yet.
        var askedAt: MonotonicTime?
    }

    /// Seconds an ended program can still be played to its end.
    private static let afterlife = 60.0
    /// Seconds for which somebody who was told to try again counts as waiting.
    private static let patience = 10.0

    private let configuration: HLSConfiguration
    private let clock: any MonotonicClock
    private let firstNumber: @Sendable () -> Int
    private let entries = Mutex<[String: Entry]>([:])

    /// Makes one from its parts.
    ///
    /// - Parameter firstNumber: The number of the first segment of a program that begins now; it never falls.
    public init(
        configuration: HLSConfiguration,
        clock: any MonotonicClock = SystemClock(),
        firstNumber: @escaping @Sendable () -> Int = { 0 }
    ) {
        self.configuration = configuration
        self.clock = clock
        self.firstNumber = firstNumber
    }

    /// The room's program, made when it is not there yet, or when the room of that name ended and begins anew.
    public func open(_ room: String) -> HLSProgram { open(room, renditions: []).program }

    /// The room's program and its renditions, as `open(_:)` makes them.
    ///
    /// - Parameter isExpected: Whether a program that is made comes without anybody's doing; its players are held.
    func open(_ room: String, renditions: [String], isExpected: Bool = false) -> HLSRenditions {
        entries.withLock { entries in
            if let entry = entries[room], entry.endedAt == nil { return entry.programs }
            let programs = HLSRenditions(
                configuration: configuration,
                renditions: renditions,
                first: firstNumber(),
                isExpected: isExpected
            )
            entries[room] = Entry(programs: programs)
            return programs
        }
    }

    /// The room's program; nil when there is none.
    public func program(_ room: String) -> HLSProgram? { programs(room)?.program }

    /// The room's program and its renditions; nil when there is none.
    func programs(_ room: String) -> HLSRenditions? {
        entries.withLock { $0[room]?.programs }
    }

    /// Whether a room's program comes without anybody's doing, and is not there yet.
    public func isReturning(_ room: String) -> Bool { programs(room)?.isReturning ?? false }

    /// Notes that somebody wants to play what is not there yet.
    func asked(for room: String) {
        let now = clock.now
        entries.withLock { $0[room]?.askedAt = now }
    }

    /// The rooms in which somebody waits for the first segment.
    public var awaitedRooms: [String] {
        let now = clock.now
        return entries.withLock { entries in
            entries.filter { $1.endedAt == nil && $1.askedAt.map { now.seconds(since: $0) < Self.patience } ?? false }
                .map(\.key)
        }
    }

    /// Bytes of media that each room's playlists keep, its renditions' included.
    public var storedBytes: [(room: String, bytes: Int)] {
        let programs = entries.withLock { entries in entries.map { ($0.key, $0.value.programs) } }
        return programs.map { room, programs in
            (room, ([programs.program] + programs.renditions.map(\.program)).reduce(0) { $0 + $1.storedBytes })
        }
    }

    /// Ends a room's program; it stays for a minute.
    public func close(_ room: String) {
        let now = clock.now
        let ended = entries.withLock { entries -> HLSRenditions? in
            guard entries[room]?.endedAt == nil else { return nil }
            entries[room]?.endedAt = now
            return entries[room]?.programs
        }
        ended?.end()
    }

    /// Forgets the programs that ended long enough ago; to be called now and then.
    public func sweep() {
        let now = clock.now
        entries.withLock { entries in
            entries = entries.filter { now.seconds(since: $1.endedAt ?? now) < Self.afterlife }
        }
    }
}
