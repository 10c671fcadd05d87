import Glibc
import Media
import NIOCore

/// One connection's streaming: from the target's consent to publish until the connection or the push ends.
///
/// Timestamps: packets carry the program's clock; on the wire each connection begins at 0 with its first key picture
/// (or first sound), and everything after keeps its distance to that.
struct PushStream {
    private let core: PushCore
    private let connection: RTMPConnection
    private let configuration: PushConfiguration

    /// What the connection begins with, reversed, so that the next packet is the last element.
    private var opening: [MediaPacket] = []
    /// The program timestamp that is 0 on the wire.
    private var base: Int64?
    private var firstMediaAt: MonotonicTime?
    private var bytesBeforeMedia = 0
    private var isAccepted = false
    private var progress: ProgressWatch
    private var nextAccounting = MonotonicTime.now()
    /// Milliseconds between looks while the kernel has no room, and what was acknowledged at the last one.
    private var fullPause = shortestFullPause
    private var lastAcknowledged = 0

    private static let shortestFullPause: Int32 = 10

    init(core: PushCore, connection: RTMPConnection) {
        self.core = core
        self.connection = connection
        configuration = core.configuration
        progress = ProgressWatch(limit: configuration.progressLimit, step: configuration.progressBytes, now: .now())
    }

    /// Streams; returns when the push is stopped, throws when the connection is of no more use.
    mutating func run() throws(PushError) {
        do throws(PushError) {
            try begin()
            while !core.isStopping { try turn() }
            // What was gathered belongs to the program before its end.
            if isGathering, let unsent = connection.guardian.unsentBytes { _ = try sendWaiting(unsent: unsent) }
        } catch  where error.code == .closed && !isAccepted {
            // Consent alone proves nothing: some servers agree, look the key up, and hang up.
            throw PushError(.refused, "the target hung up right after the stream began")
        }
    }

    /// Waits for something to begin with; a connection held open meanwhile answers the target's messages.
    private mutating func begin() throws(PushError) {
        let start = MonotonicTime.now()
        while !core.isStopping {
            let patienceIsOver = MonotonicTime.now().seconds(since: start) >= configuration.videoPatience
            if let packets = core.begin(withoutVideo: patienceIsOver) {
                opening = packets.reversed()
                return
            }
            let isReadable = core.sleep(socket: connection.guardian.socket, milliseconds: 20, until: .none)
            try connection.readMessages(isReadable: isReadable)
        }
    }

    /// One round: send what the kernel takes without blocking, look how the target does, wait for more.
    private mutating func turn() throws(PushError) {
        guard let unsent = connection.guardian.unsentBytes else {
            throw PushError(.closed, "the connection broke")
        }
        // Taken before more is sent: what goes now has not reached anybody yet.
        let acknowledged = connection.bytesWritten - unsent
        let isDone = try sendWaiting(unsent: unsent)
        let now = MonotonicTime.now()
        try look(acknowledged: acknowledged, unsent: unsent, now: now)
        let isReadable = core.sleep(
            socket: connection.guardian.socket,
            milliseconds: pause(isDone: isDone, acknowledged: acknowledged),
            until: !isDone ? .none : isGathering ? .gathered : .packets
        )
        try connection.readMessages(isReadable: isReadable)
    }

    /// The target has the beginning, so what follows may go in larger lots.
    private var isGathering: Bool { isAccepted && configuration.gathering > 0 }

    /// Milliseconds until the next round, if nothing else begins it.
    private mutating func pause(isDone: Bool, acknowledged: Int) -> Int32 {
        if isDone {
            fullPause = Self.shortestFullPause
            if !isAccepted { return 20 }
            return isGathering ? Int32(clamping: Int(configuration.gathering * 1000)) : 100
        }
        // Out of room: the kernel's buffer drains in steps of a few packets, so look again soon, and less often while
        // nothing moves.
        fullPause = acknowledged == lastAcknowledged ? min(fullPause * 2, 100) : Self.shortestFullPause
        lastAcknowledged = acknowledged
        return fullPause
    }

    /// Sends until nothing waits (true) or the kernel has no room (false), all of it in one go.
    private mutating func sendWaiting(unsent: Int) throws(PushError) -> Bool {
        // A packet larger than all of the buffer goes when nothing else is in it; the call's limit covers the rest.
        var room = unsent == 0 ? nil : connection.capacity - unsent
        while let packet = opening.last, room.map({ packet.body.readableBytes <= $0 }) ?? true {
            opening.removeLast()
            lay(packet)
            room = (room ?? connection.capacity) - packet.body.readableBytes
        }
        var isDone = false
        if opening.isEmpty {
            let (packets, isEmpty) = core.take(room: room, capacity: connection.capacity)
            for packet in packets { lay(packet) }
            isDone = isEmpty
        }
        let before = connection.bytesWritten
        let hasMedia = base != nil
        try connection.flush()
        core.countSent(connection.bytesWritten - before)
        if hasMedia, firstMediaAt == nil { firstMediaAt = .now() }
        return isDone
    }

    private mutating func lay(_ packet: MediaPacket) {
        if !packet.isConfiguration, base == nil {
            base = configuration.keepsClock ? 0 : packet.timestamp
            bytesBeforeMedia = connection.bytesWritten + connection.bytesLaid
        }
        connection.lay(packet, timestamp: base.map { max(0, packet.timestamp - $0) } ?? start)
    }

    /// The time on the wire of what comes ahead of the first picture or sound.
    private var start: Int64 {
        guard configuration.keepsClock else { return 0 }
        return max(0, opening.last { !$0.isConfiguration }?.timestamp ?? 0)
    }

    /// Acceptance, progress, and once a second the accounting, of drops among it.
    private mutating func look(acknowledged: Int, unsent: Int, now: MonotonicTime) throws(PushError) {
        if !isAccepted, let firstMediaAt, now.seconds(since: firstMediaAt) >= configuration.acceptance,
            acknowledged > bytesBeforeMedia
        {
            isAccepted = true
            core.accepted(now: now)
        }
        guard progress.isMoving(acknowledged: acknowledged, unsent: unsent, now: now) else {
            throw PushError(.stalled, "the target takes no more data")
        }
        guard now >= nextAccounting else { return }
        nextAccounting = now.advanced(seconds: 1)
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        core.setCPU(UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
        try core.lookAtDrops(now: now)
    }
}
