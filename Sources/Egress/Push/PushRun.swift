import Glibc
import Media
import NIOCore

/// The main loop of a push on its own thread: connect, stream, wait, until stopped.
///
/// The connection never leaves the thread.
struct PushRun {
    let core: PushCore
    private let dialler: TargetConnector

    init(core: PushCore) {
        self.core = core
        dialler = TargetConnector(
            policy: core.policy,
            configuration: core.configuration,
            wake: core.wake,
            isStopped: { core.isStopping }
        )
    }

    /// The thread's body.
    func run() {
        core.startBackupProbe()
        var action = core.advance { $0.start(now: .now()) }
        while !core.isStopping {
            switch action {
            case .connect:
                let error = tryOnce()
                core.endStreaming()
                let chance = Double.random(in: 0...1)
                action = core.advance { $0.failed(error, now: .now(), chance: chance) }
            case .wait(let until):
                wait(until: until)
                action = core.advance { $0.due() }
            case .end:
                finish()
                return
            }
        }
        finish()
    }

    private func finish() {
        core.announce()
        core.waitForBackupProbe()
        core.ended.update { $0 = true }
    }

    private func wait(until moment: MonotonicTime) {
        // A retry requested during the failed attempt is already served.
        _ = core.consumeRetryRequest()
        while !core.isStopping, !core.consumeRetryRequest() {
            let remaining = moment.seconds(since: .now())
            guard remaining > 0 else { return }
            let milliseconds = Int32(clamping: Int(remaining * 1000) + 1)
            _ = core.sleep(socket: -1, milliseconds: milliseconds, until: .none)
        }
    }

    /// Makes one connection and streams until it ends; returns the error that ended it.
    private func tryOnce() -> PushError {
        do throws(PushError) {
            let deadline = MonotonicTime.now().advanced(seconds: core.configuration.connectDeadline)
            let address = core.address
            let socket = try dialler.dial(address, by: deadline)
            let connection = try LibRTMPSession(
                socket: socket,
                address: address,
                configuration: core.configuration
            )
            core.watch(connection.socketGuard)
            defer { core.watch(nil) }
            do throws(PushError) {
                do throws(PushError) {
                    try connection.open(address: address, deadline: deadline) { core.isStopping }
                } catch  where error.code == .closed && connection.hasOffered {
                    throw PushError(.refused, "the target hung up when the stream was offered")
                }
                var stream = PushStream(core: core, connection: connection)
                try stream.run()
            } catch {
                connection.close()
                throw error
            }
            connection.close(farewell: core.configuration.farewell)
            return PushError(.local, "stopped")
        } catch {
            return error
        }
    }
}

/// Streams over one connection, from the accepted publish until the connection or the push ends.
///
/// Timestamps: packets carry the program's clock; on the wire each connection begins at 0 with its first keyframe (or
/// first audio frame), and later timestamps keep their distance to it.
struct PushStream {
    private let core: PushCore
    private let connection: LibRTMPSession
    private let configuration: PushConfiguration

    /// The first packets of the connection in reverse order, so that the next one is the last element.
    private var opening: [MediaPacket] = []
    /// The program timestamp that is 0 on the wire.
    private var base: Int64?
    private var firstMediaAt: MonotonicTime?
    private var bytesBeforeMedia = 0
    private var isAccepted = false
    private var progress: StallDetector
    private var nextAccounting = MonotonicTime.now()
    /// Milliseconds between checks while the kernel's buffer is full, and the bytes acknowledged at the last check.
    private var fullPause = shortestFullPause
    private var lastAcknowledged = 0

    private static let shortestFullPause: Int32 = 10

    init(core: PushCore, connection: LibRTMPSession) {
        self.core = core
        self.connection = connection
        configuration = core.configuration
        progress = StallDetector(limit: configuration.progressLimit, step: configuration.progressBytes, now: .now())
    }

    /// Streams until the push is stopped; throws when the connection fails.
    mutating func run() throws(PushError) {
        do throws(PushError) {
            try begin()
            while !core.isStopping { try turn() }
            // Gathered packets belong to the program before its end.
            if isGathering, let unsent = connection.socketGuard.unsentBytes { _ = try sendWaiting(unsent: unsent) }
        } catch  where error.code == .closed && !isAccepted {
            // Some servers accept the publish, validate the key later, and then close.
            throw PushError(.refused, "the target hung up right after the stream began")
        }
    }

    /// Waits for the first packets; answers the target's messages meanwhile.
    private mutating func begin() throws(PushError) {
        let start = MonotonicTime.now()
        while !core.isStopping {
            let isVideoTimedOut = MonotonicTime.now().seconds(since: start) >= configuration.videoTimeout
            if let packets = core.begin(withoutVideo: isVideoTimedOut) {
                opening = packets.reversed()
                return
            }
            let isReadable = core.sleep(socket: connection.socketGuard.socket, milliseconds: 20, until: .none)
            try connection.readMessages(isReadable: isReadable)
        }
    }

    /// Runs one round: sends what the kernel accepts without blocking, checks the target, waits for more.
    private mutating func turn() throws(PushError) {
        guard let unsent = connection.socketGuard.unsentBytes else {
            throw PushError(.closed, "the connection broke")
        }
        // Computed before sending: bytes sent now cannot be acknowledged yet.
        let acknowledged = connection.bytesWritten - unsent
        let isDone = try sendWaiting(unsent: unsent)
        let now = MonotonicTime.now()
        try checkProgress(acknowledged: acknowledged, unsent: unsent, now: now)
        let isReadable = core.sleep(
            socket: connection.socketGuard.socket,
            milliseconds: pause(isDone: isDone, acknowledged: acknowledged),
            until: !isDone ? .none : isGathering ? .gathered : .packets
        )
        try connection.readMessages(isReadable: isReadable)
    }

    /// Whether packets may be gathered, which begins once the target has accepted the stream.
    private var isGathering: Bool { isAccepted && configuration.gathering > 0 }

    /// Returns the milliseconds until the next round without other events.
    private mutating func pause(isDone: Bool, acknowledged: Int) -> Int32 {
        if isDone {
            fullPause = Self.shortestFullPause
            if !isAccepted { return 20 }
            return isGathering ? Int32(clamping: Int(configuration.gathering * 1000)) : 100
        }
        // The kernel's buffer is full and drains by a few packets at a time: check again soon, less often while nothing
        // moves.
        fullPause = acknowledged == lastAcknowledged ? min(fullPause * 2, 100) : Self.shortestFullPause
        lastAcknowledged = acknowledged
        return fullPause
    }

    /// Sends in one batch until the queue is empty (returns true) or the kernel's buffer is full (false).
    private mutating func sendWaiting(unsent: Int) throws(PushError) -> Bool {
        // A packet larger than the buffer is sent when the buffer is empty; the call timeout bounds it.
        var room = unsent == 0 ? nil : connection.capacity - unsent
        while let packet = opening.last, room.map({ packet.body.readableBytes <= $0 }) ?? true {
            opening.removeLast()
            lay(packet)
            room = (room ?? connection.capacity) - packet.body.readableBytes
        }
        var isDone = false
        if opening.isEmpty {
            let (packets, isEmpty) = core.popFirst(room: room, capacity: connection.capacity)
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
            bytesBeforeMedia = connection.bytesWritten + connection.pendingBytes
        }
        connection.lay(packet, timestamp: base.map { max(0, packet.timestamp - $0) } ?? start)
    }

    /// The wire timestamp of packets before the first frame or audio.
    private var start: Int64 {
        guard configuration.keepsClock else { return 0 }
        return max(0, opening.last { !$0.isConfiguration }?.timestamp ?? 0)
    }

    /// Updates acceptance and progress, and once a second the CPU time and the drop statistics.
    private mutating func checkProgress(acknowledged: Int, unsent: Int, now: MonotonicTime) throws(PushError) {
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
        try core.updateDropMonitor(now: now)
    }
}
