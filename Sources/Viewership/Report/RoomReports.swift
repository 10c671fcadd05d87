import Foundation
import Stage

/// The state of rooms as a whole: peaks, distinct viewers, ends of broadcasts, and the journal of the history.
///
/// The shards report every change of a live count, in order. Times are milliseconds of the monotonic clock; `WallClock`
/// converts them to dates.
struct RoomReports {
    /// Converts between the monotonic clock and the wall clock, which was read once at start.
    struct WallClock: Sendable {
        /// Milliseconds since 1970 at the monotonic clock's zero.
        var zero: Int64

        func date(of monotonic: Int64) -> Int64 { monotonic + zero }
        func monotonic(of date: Int64) -> Int64 { date - zero }
    }

    struct Entry {
        var epoch: Int64
        var roomSID = ""
        var began: Int64
        var live = 0
        var peak = 0
        var peakAt: Int64?
        /// The fewest and most viewers since the last history batch.
        var lowest = 0
        var highest = 0
        var uniques = UniqueCounters()
        /// Time on air before the current span in milliseconds, and the start of that span.
        var onAir: Int64 = 0
        var onAirSince: Int64?
        /// Whether the room's program is published, and whether the audience does not get it yet.
        private var isPublished = false
        private var isWithheld = false
        /// The latest spans on air before the current one.
        private var airSpans: [ClosedRange<Int64>] = []
        private static let airSpanLimit = 32
        /// The time of the last history batch, and the time on air until then.
        var written: (at: Int64, onAir: Int64)
        /// The end of the broadcast with its final figures, until the next one begins.
        var ended: (at: Int64, final: RoomViewership)?
        /// Bit rates of the renditions in kbit/s; the source has the empty name.
        var bitrates: [String: Int] = [:]
        /// Whether the broadcast was recovered and its room has not begun again.
        var isRecovered = false

        init(epoch: Int64, began: Int64) {
            self.epoch = epoch
            self.began = began
            written = (began, 0)
        }

        mutating func move(_ change: ShardOutput.Change) {
            live += change.delta
            lowest = min(lowest, live)
            highest = max(highest, live)
            if live > peak { (peak, peakAt) = (live, change.at) }
        }

        /// Returns the rendition with the bit rate nearest to a player's; nil without known rates.
        func rendition(of bitrate: Int) -> String? {
            func distance(_ rate: Int) -> Double { abs(log(Double(max(1, rate)) / Double(max(1, bitrate)))) }
            return bitrates.min { (distance($0.value), $0.key) < (distance($1.value), $1.key) }?.key
        }

        mutating func setPublished(_ isPublished: Bool, at: Int64) {
            self.isPublished = isPublished
            setOnAir(isPublished && !isWithheld, at: at)
        }

        mutating func setWithheld(_ isWithheld: Bool, at: Int64) {
            self.isWithheld = isWithheld
            setOnAir(isPublished && !isWithheld, at: at)
        }

        private mutating func setOnAir(_ isOn: Bool, at: Int64) {
            guard ended == nil, isOn != (onAirSince != nil) else { return }
            if !isOn {
                onAir = onAir(at: at)
                if let since = onAirSince { addAirSpan(from: since, to: at) }
            }
            onAirSince = isOn ? at : nil
        }

        /// Adds a span on air.
        mutating func addAirSpan(from: Int64, to: Int64) {
            guard from < to else { return }
            airSpans = (airSpans + [from...to]).suffix(Self.airSpanLimit)
        }

        /// Returns the time on air between two times, in milliseconds; spans before the retained ones count as on air.
        func onAir(from: Int64, to: Int64) -> Int64 {
            guard from < to else { return 0 }
            var spans = airSpans
            if let since = onAirSince { spans.append(since...max(since, ended?.at ?? to)) }
            if airSpans.count == Self.airSpanLimit, let first = airSpans.first, from < first.lowerBound {
                spans.append(from...first.lowerBound)
            }
            return spans.reduce(0) { $0 + max(0, min(to, $1.upperBound) - max(from, $1.lowerBound)) }
        }

        /// Returns the time on air so far, in milliseconds.
        func onAir(at now: Int64) -> Int64 {
            onAir + (onAirSince.map { max(0, (ended?.at ?? now) - $0) } ?? 0)
        }
    }

    let wallClock: WallClock
    private(set) var rooms: [String: Entry] = [:]
    private(set) var totalPeak = 0
    private(set) var totalPeakAt: Int64?
    private var totalLive = 0
    /// The fewest and most viewers over all rooms since the last history batch.
    private var totalExtremes = (lowest: 0, highest: 0)
    private var lastEpoch: Int64 = 0
    private(set) var startups = StartupHistogram()
    /// Requests of earlier runs.
    private(set) var earlierRequests = 0
    var journal = HistoryJournal()

    init(wallClock: WallClock) {
        self.wallClock = wallClock
    }

    mutating func apply(_ output: ShardOutput) {
        for change in output.changes {
            if change.delta > 0 { beginNextIfEnded(change.room, at: change.at) }
            move(change)
        }
        for arrival in output.arrivals {
            rooms[arrival.room]?.uniques.insert(
                viewer: arrival.viewer?.value,
                isUser: arrival.viewer?.kind == .user,
                estimate: arrival.estimate,
                session: arrival.session
            )
        }
        for startup in output.startups { startups.insert(startup) }
        guard journal.isEnabled else { return }
        for session in output.sessions {
            guard let epoch = rooms[session.room]?.epoch else { continue }
            journal.pending.add(SessionRow(session, epoch: epoch, wallClock: wallClock))
        }
        for step in output.steps {
            guard let epoch = rooms[step.room]?.epoch else { continue }
            journal.add(SessionStep(step, epoch: epoch, wallClock: wallClock))
        }
        for earlier in output.earlier {
            guard let entry = rooms[earlier.room] else { continue }
            journal.add(earlier, entry: entry, wallClock: wallClock)
        }
        for move in output.moves {
            guard let epoch = rooms[move.room]?.epoch else { continue }
            journal.pending.add(
                MoveRow(code: move.code, epoch: epoch, at: wallClock.date(of: move.at), from: move.from)
            )
        }
        for gap in output.gaps {
            guard let epoch = rooms[gap.room]?.epoch else { continue }
            let (from, to) = (wallClock.date(of: gap.from), wallClock.date(of: gap.to))
            journal.pending.add(GapRow(code: gap.code, epoch: epoch, from: from, to: to))
        }
    }

    private mutating func move(_ change: ShardOutput.Change) {
        totalLive += change.delta
        totalExtremes.lowest = min(totalExtremes.lowest, totalLive)
        totalExtremes.highest = max(totalExtremes.highest, totalLive)
        if totalLive > totalPeak { (totalPeak, totalPeakAt) = (totalLive, change.at) }
        rooms[change.room]?.move(change)
    }

    /// Begins a broadcast for a viewer of a room that has ended or never begun.
    private mutating func beginNextIfEnded(_ room: String, at: Int64) {
        guard let entry = rooms[room] else { return begin(room, sid: "", at: at) }
        if entry.ended != nil { begin(room, sid: "", at: at) }
    }

    /// Begins a broadcast; the figures of the previous one under the same name are no longer reported.
    ///
    /// Continues the broadcast of the same room of an earlier run.
    mutating func begin(_ room: String, sid: String, at: Int64) {
        if let entry = rooms[room], entry.ended == nil, !sid.isEmpty, entry.roomSID == sid || entry.roomSID.isEmpty {
            rooms[room]?.roomSID = sid
            rooms[room]?.isRecovered = false
            return
        }
        lastEpoch = max(lastEpoch + 1, wallClock.date(of: at))
        var entry = Entry(epoch: lastEpoch, began: at)
        entry.roomSID = sid
        entry.live = rooms[room].map { $0.ended == nil ? $0.live : 0 } ?? 0
        (entry.lowest, entry.highest) = (entry.live, entry.live)
        rooms[room] = entry
    }

    /// Sets the bit rates of a room's renditions.
    mutating func setBitrates(_ room: String, _ bitrates: [String: Int]) {
        rooms[room]?.bitrates = bitrates
    }

    /// Sets whether the program of a room is published.
    mutating func setOnAir(_ room: String, _ isOn: Bool, at: Int64) {
        rooms[room]?.setPublished(isOn, at: at)
    }

    /// Sets whether the audience does not get the program of a room yet, which is then not on air.
    mutating func setWithheld(_ room: String, _ isWithheld: Bool, at: Int64) {
        rooms[room]?.setWithheld(isWithheld, at: at)
    }

    /// Ends the broadcast; `final` is reported until the next one begins.
    mutating func end(_ room: String, final: RoomViewership, at: Int64) {
        beginNextIfEnded(room, at: at)
        setOnAir(room, false, at: at)
        rooms[room]?.ended = (at, final)
        rooms[room]?.isRecovered = false
    }

    /// Recovered rooms that have not begun again.
    var abandoned: [String] {
        rooms.filter { $0.value.isRecovered && $0.value.ended == nil }.map(\.key)
    }

    /// Restores the broadcasts of an earlier run.
    ///
    /// - Parameter now: The start of this run.
    mutating func restore(_ recovered: RecoveredAudience, at now: Int64) {
        startups.add(recovered.counters.startups)
        earlierRequests += min(max(recovered.counters.requests, 0), RunCounters.maximum)
        for row in recovered.broadcasts.sorted(by: { $0.epoch < $1.epoch }) {
            lastEpoch = max(lastEpoch, row.epoch)
            var entry = Entry(epoch: row.epoch, began: wallClock.monotonic(of: row.began))
            entry.roomSID = row.roomSID
            entry.peak = row.peak
            entry.peakAt = row.peakAt.map { wallClock.monotonic(of: $0) }
            entry.onAir = row.onAir
            // Only the sum is known: backdated time before the restart counts as on air.
            if row.onAir > 0 { entry.addAirSpan(from: entry.began, to: now) }
            entry.written = (now, row.onAir)
            entry.isRecovered = true
            rooms[row.room] = entry
        }
        if let peak = recovered.totalPeak {
            (totalPeak, totalPeakAt) = (peak.viewers, wallClock.monotonic(of: peak.at))
        }
        let names = Dictionary(recovered.broadcasts.map { ($0.epoch, $0.room) }) { $1 }
        for viewer in recovered.viewers {
            guard let room = names[viewer.epoch] else { continue }
            rooms[room]?.uniques.insert(
                viewer: viewer.viewer,
                isUser: viewer.isUser,
                estimate: viewer.estimate,
                session: viewer.session
            )
        }
    }

    /// Adds the viewer of a session that qualified in an earlier run.
    mutating func arrived(in room: String, _ step: SessionStep) {
        rooms[room]?.uniques.insert(
            viewer: step.viewer,
            isUser: step.isUser,
            estimate: step.estimate,
            session: step.code
        )
    }

    /// Removes and returns the rooms that ended before `moment`.
    mutating func removeRooms(endedBefore moment: Int64) -> [String] {
        let gone = rooms.filter { _, entry in entry.ended.map { $0.at < moment } ?? false }.map(\.key)
        for room in gone {
            rooms[room] = nil
            journal.remove(room)
        }
        return gone
    }

    /// Returns the time on air of a room since the last history batch.
    func air(of room: String, until now: Int64) -> AirTime {
        guard let entry = rooms[room] else { return AirTime() }
        return AirTime(
            onAir: entry.onAir(at: now) - entry.written.onAir,
            from: wallClock.date(of: entry.written.at),
            to: wallClock.date(of: now)
        )
    }

    /// Records that the history has everything of the room up to now.
    mutating func markWritten(_ room: String, at now: Int64) {
        guard let entry = rooms[room] else { return }
        rooms[room]?.written = (now, entry.onAir(at: now))
        resetExtremes(of: room)
    }

    /// Adds the totals over all rooms to the journal.
    mutating func writeTotal(minute: Int64) {
        journal.addTotal(
            minimum: totalExtremes.lowest,
            maximum: totalExtremes.highest,
            last: totalLive,
            minute: minute
        )
        totalExtremes = (totalLive, totalLive)
    }

    /// Restarts the search for the fewest and most viewers.
    private mutating func resetExtremes(of room: String) {
        guard let live = rooms[room]?.live else { return }
        rooms[room]?.lowest = live
        rooms[room]?.highest = live
    }
}

extension SessionStep {
    init(_ step: ShardOutput.Step, epoch: Int64, wallClock: RoomReports.WallClock) {
        self.init(
            kind: step.kind,
            code: step.code,
            shard: step.shard,
            epoch: epoch,
            dimensions: step.dimensions,
            viewer: step.viewer?.value,
            isUser: step.viewer?.kind == .user,
            estimate: step.estimate,
            isLogged: step.isLogged,
            start: wallClock.date(of: step.start),
            at: wallClock.date(of: step.at)
        )
    }
}

extension SessionRow {
    init(_ session: ShardOutput.Session, epoch: Int64, wallClock: RoomReports.WallClock) {
        self.init(
            code: session.code,
            shard: session.shard,
            index: session.index.map { Int($0) },
            room: session.room,
            epoch: epoch,
            start: wallClock.date(of: session.start),
            previousStart: session.previousStart.map { wallClock.date(of: $0) },
            end: session.end.map { wallClock.date(of: $0) },
            watched: Int64(session.watched),
            watchedUntil: session.watchedUntil.map { wallClock.date(of: $0) },
            poll: Int(session.poll),
            stalled: Int64(session.stalled),
            dimensions: Dimensions(
                playback: session.playback,
                rendition: session.rendition,
                region: session.region,
                client: session.client
            ),
            renditions: session.renditions,
            switches: Int(session.switches),
            bytes: session.bytes,
            viewer: session.viewer?.value,
            isUser: session.viewer?.kind == .user,
            estimate: session.estimate,
            hasReported: session.hasReported,
            isLogged: session.isLogged,
            reason: session.reason,
            isClosed: session.isClosed
        )
    }
}

/// The time on air within a span; milliseconds since 1970.
struct AirTime {
    /// Time on air, in milliseconds.
    let onAir: Int64
    private let from: Int64
    private let to: Int64

    init(onAir: Int64 = 0, from: Int64 = 0, to: Int64 = 0) {
        self.from = from
        self.to = max(from, to)
        self.onAir = min(max(0, onAir), self.to - from)
    }

    /// Returns the part of `time` that was on air.
    ///
    /// `time` passed within the span and is on air in the same proportion as the span.
    func part(of time: Int64) -> Int64 {
        to > from ? Int64((Double(time) * Double(onAir) / Double(to - from)).rounded()) : 0
    }

    /// Distributes `time`, which passed evenly in the span, over its minutes since 1970.
    ///
    /// - Parameter minute: The minute of all the time when the span is empty.
    func minutes(of time: Int64, at minute: Int64) -> [(minute: Int64, time: Int64)] {
        guard from < to, from / 60_000 != to / 60_000 else { return [(minute, time)] }
        var parts: [(minute: Int64, time: Int64)] = []
        var (position, rest) = (from, time)
        while position < to {
            let end = min(to, (position / 60_000 + 1) * 60_000)
            let part = end == to ? rest : Int64((Double(time) * Double(end - position) / Double(to - from)).rounded())
            parts.append((position / 60_000, part))
            rest -= part
            position = end
        }
        return parts
    }

    /// The time on air in each minute of the span, in milliseconds.
    var minutes: [(minute: Int64, onAir: Int64)] {
        guard onAir > 0 else { return [] }
        var minutes: [(minute: Int64, onAir: Int64)] = []
        var (position, rest) = (from, onAir)
        while position < to {
            let end = min(to, (position / 60_000 + 1) * 60_000)
            let share = end == to ? rest : min(rest, part(of: end - position))
            minutes.append((position / 60_000, share))
            rest -= share
            position = end
        }
        return minutes
    }
}
