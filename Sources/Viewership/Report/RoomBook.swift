import Foundation
import Stage

/// What is known of rooms as a whole: peaks, who was there, how broadcasts ended, and what the history is still to get.
///
/// Fed with every move of a live count, by the shards in the order in which they happen. Times are milliseconds of the
/// monotonic clock; `Wall` makes dates of them.
struct RoomBook {
    /// What the wall clock says, carried on by the monotonic clock.
    struct Wall: Sendable {
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
        /// Fewest and most since the history was last written.
        var lowest = 0
        var highest = 0
        var uniques = UniqueCounters()
        /// Milliseconds on the air before the present time on the air, and since when it is.
        var onAir: Int64 = 0
        var onAirSince: Int64?
        /// The latest times on the air before the present one.
        private var airSpans: [ClosedRange<Int64>] = []
        private static let airSpanLimit = 32
        /// Up to when the history has it, and how long the program had been on the air then.
        var written: (at: Int64, onAir: Int64)
        /// When the broadcast ended, and its final figures, until the next one begins.
        var ended: (at: Int64, final: RoomViewership)?
        /// Kilobits a second of each rendition, by which players tell what they play; the program as it is has no name.
        var bitrates: [String: Int] = [:]
        /// Found in the history; nobody has begun the room yet.
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

        /// The rendition whose rate is nearest to what a player says it plays; nil where no rates are known.
        func rendition(of bitrate: Int) -> String? {
            func distance(_ rate: Int) -> Double { abs(log(Double(max(1, rate)) / Double(max(1, bitrate)))) }
            return bitrates.min { (distance($0.value), $0.key) < (distance($1.value), $1.key) }?.key
        }

        mutating func setOnAir(_ isOn: Bool, at: Int64) {
            guard ended == nil, isOn != (onAirSince != nil) else { return }
            if !isOn {
                onAir = onAir(at: at)
                if let since = onAirSince { noteAir(from: since, to: at) }
            }
            onAirSince = isOn ? at : nil
        }

        /// It was on the air from the one moment to the other.
        mutating func noteAir(from: Int64, to: Int64) {
            guard from < to else { return }
            airSpans = (airSpans + [from...to]).suffix(Self.airSpanLimit)
        }

        /// Milliseconds on the air from one moment to another; what is longer ago than is known was.
        func onAir(from: Int64, to: Int64) -> Int64 {
            guard from < to else { return 0 }
            var spans = airSpans
            if let since = onAirSince { spans.append(since...max(since, ended?.at ?? to)) }
            if airSpans.count == Self.airSpanLimit, let first = airSpans.first, from < first.lowerBound {
                spans.append(from...first.lowerBound)
            }
            return spans.reduce(0) { $0 + max(0, min(to, $1.upperBound) - max(from, $1.lowerBound)) }
        }

        /// Milliseconds on the air.
        func onAir(at now: Int64) -> Int64 {
            onAir + (onAirSince.map { max(0, (ended?.at ?? now) - $0) } ?? 0)
        }
    }

    let wall: Wall
    private(set) var rooms: [String: Entry] = [:]
    private(set) var totalPeak = 0
    private(set) var totalPeakAt: Int64?
    private var totalLive = 0
    /// Fewest and most over all rooms since the history was last written.
    private var totalExtremes = (lowest: 0, highest: 0)
    private var lastEpoch: Int64 = 0
    private(set) var startups = StartupHistogram()
    /// Of earlier runs.
    private(set) var earlierBeats = 0
    var journal = HistoryJournal()

    init(wall: Wall) {
        self.wall = wall
    }

    mutating func apply(_ output: ShardOutput) {
        for change in output.changes {
            if change.delta > 0 { beginAgainIfOver(change.room, at: change.at) }
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
        guard journal.isKept else { return }
        for session in output.sessions {
            guard let epoch = rooms[session.room]?.epoch else { continue }
            journal.pending.add(SessionRow(session, epoch: epoch, wall: wall))
        }
        for step in output.steps {
            guard let epoch = rooms[step.room]?.epoch else { continue }
            journal.add(SessionStep(step, epoch: epoch, wall: wall))
        }
        for earlier in output.earlier {
            guard let entry = rooms[earlier.room] else { continue }
            journal.add(earlier, entry: entry, wall: wall)
        }
        for move in output.moves {
            guard let epoch = rooms[move.room]?.epoch else { continue }
            journal.pending.add(MoveRow(code: move.code, epoch: epoch, at: wall.date(of: move.at), from: move.from))
        }
        for gap in output.gaps {
            guard let epoch = rooms[gap.room]?.epoch else { continue }
            let (from, to) = (wall.date(of: gap.from), wall.date(of: gap.to))
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

    /// Somebody watches a room of a name whose last broadcast is over, or that nobody has begun.
    private mutating func beginAgainIfOver(_ room: String, at: Int64) {
        guard let entry = rooms[room] else { return begin(room, sid: "", at: at) }
        if entry.ended != nil { begin(room, sid: "", at: at) }
    }

    /// A broadcast begins; the figures of the one before it under the same name are history.
    ///
    /// The broadcast of the same room that an earlier run had begun goes on.
    mutating func begin(_ room: String, sid: String, at: Int64) {
        if let entry = rooms[room], entry.ended == nil, !sid.isEmpty, entry.roomSID == sid || entry.roomSID.isEmpty {
            rooms[room]?.roomSID = sid
            rooms[room]?.isRecovered = false
            return
        }
        lastEpoch = max(lastEpoch + 1, wall.date(of: at))
        var entry = Entry(epoch: lastEpoch, began: at)
        entry.roomSID = sid
        entry.live = rooms[room].map { $0.ended == nil ? $0.live : 0 } ?? 0
        (entry.lowest, entry.highest) = (entry.live, entry.live)
        rooms[room] = entry
    }

    /// What the renditions of a room that was begun are coded with.
    mutating func setBitrates(_ room: String, _ bitrates: [String: Int]) {
        rooms[room]?.bitrates = bitrates
    }

    /// The program of a room goes on the air, or off.
    mutating func setOnAir(_ room: String, _ isOn: Bool, at: Int64) {
        rooms[room]?.setOnAir(isOn, at: at)
    }

    /// The broadcast is over; `final` stands for it until the next one begins.
    mutating func end(_ room: String, final: RoomViewership, at: Int64) {
        beginAgainIfOver(room, at: at)
        setOnAir(room, false, at: at)
        rooms[room]?.ended = (at, final)
        rooms[room]?.isRecovered = false
    }

    /// Rooms of an earlier run that nobody has begun since.
    var abandoned: [String] {
        rooms.filter { $0.value.isRecovered && $0.value.ended == nil }.map(\.key)
    }

    /// Takes over the broadcasts of an earlier run.
    ///
    /// - Parameter now: This run's beginning.
    mutating func restore(_ recovered: RecoveredAudience, at now: Int64) {
        startups.add(recovered.counters.startups)
        earlierBeats += min(max(recovered.counters.beats, 0), RunCounters.most)
        for row in recovered.broadcasts.sorted(by: { $0.epoch < $1.epoch }) {
            lastEpoch = max(lastEpoch, row.epoch)
            var entry = Entry(epoch: row.epoch, began: wall.monotonic(of: row.began))
            entry.roomSID = row.roomSID
            entry.peak = row.peak
            entry.peakAt = row.peakAt.map { wall.monotonic(of: $0) }
            entry.onAir = row.onAir
            // Of how long it was, and not when: what is counted late of the time before was on the air.
            if row.onAir > 0 { entry.noteAir(from: entry.began, to: now) }
            entry.written = (now, row.onAir)
            entry.isRecovered = true
            rooms[row.room] = entry
        }
        if let peak = recovered.totalPeak { (totalPeak, totalPeakAt) = (peak.viewers, wall.monotonic(of: peak.at)) }
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

    /// Somebody was proven to watch in an earlier run.
    mutating func arrived(in room: String, _ step: SessionStep) {
        rooms[room]?.uniques.insert(
            viewer: step.viewer,
            isUser: step.isUser,
            estimate: step.estimate,
            session: step.code
        )
    }

    /// Forgets the rooms that ended before `moment`, and names them.
    mutating func removeRooms(endedBefore moment: Int64) -> [String] {
        let gone = rooms.filter { _, entry in entry.ended.map { $0.at < moment } ?? false }.map(\.key)
        for room in gone {
            rooms[room] = nil
            journal.forget(room)
        }
        return gone
    }

    /// What passed since the history was last written, of a room.
    func air(of room: String, until now: Int64) -> AirTime {
        guard let entry = rooms[room] else { return AirTime() }
        return AirTime(
            onAir: entry.onAir(at: now) - entry.written.onAir,
            from: wall.date(of: entry.written.at),
            to: wall.date(of: now)
        )
    }

    /// The history has everything of the room up to now.
    mutating func noteWritten(_ room: String, at now: Int64) {
        guard let entry = rooms[room] else { return }
        rooms[room]?.written = (now, entry.onAir(at: now))
        restartExtremes(of: room)
    }

    /// Gives the history what all rooms together had since it was last written.
    mutating func writeTotal(minute: Int64) {
        journal.addTotal(
            minimum: totalExtremes.lowest,
            maximum: totalExtremes.highest,
            last: totalLive,
            minute: minute
        )
        totalExtremes = (totalLive, totalLive)
    }

    /// Starts to look for the fewest and the most anew.
    private mutating func restartExtremes(of room: String) {
        guard let live = rooms[room]?.live else { return }
        rooms[room]?.lowest = live
        rooms[room]?.highest = live
    }
}

extension SessionStep {
    init(_ step: ShardOutput.Step, epoch: Int64, wall: RoomBook.Wall) {
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
            start: wall.date(of: step.start),
            at: wall.date(of: step.at)
        )
    }
}

extension SessionRow {
    init(_ session: ShardOutput.Session, epoch: Int64, wall: RoomBook.Wall) {
        self.init(
            code: session.code,
            shard: session.shard,
            place: session.place.map { Int($0) },
            room: session.room,
            epoch: epoch,
            start: wall.date(of: session.start),
            formerStart: session.formerStart.map { wall.date(of: $0) },
            end: session.end.map { wall.date(of: $0) },
            watched: Int64(session.watched),
            watchedUntil: session.watchedUntil.map { wall.date(of: $0) },
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
            isHeard: session.isHeard,
            isLogged: session.isLogged,
            reason: session.reason,
            isClosed: session.isClosed
        )
    }
}
