import Glibc
import Media

/// The thread of a proxy: looks at all its sockets some hundred times a second.
struct FaultProxyLoop: Sendable {
    let listener: Int32
    let settings: FaultProxySettings

    /// Bytes on their way from one socket to the other.
    private struct Lane {
        let from: Int32
        let to: Int32
        var waiting: [(due: MonotonicTime, bytes: [UInt8])] = []
        var isEnded = false
        /// Bytes taken in, and bytes handed on, so far.
        var taken = 0
        var sent = 0

        /// The most that may wait before no more is read.
        static let limit = 1 << 20

        /// Moves what can be moved.
        ///
        /// - Parameter share: The most bytes that may be taken in now.
        /// - Returns: False when a socket is broken, or all has gone through that will ever come.
        mutating func move(delay: Double, share: Int, now: MonotonicTime) -> Bool {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            var share = share
            while !isEnded, share > 0, waiting.reduce(0, { $0 + $1.bytes.count }) < Self.limit {
                let count = read(from, &buffer, min(buffer.count, share))
                if count > 0 {
                    share -= count
                    taken += count
                    waiting.append((now.advanced(seconds: delay), Array(buffer[..<count])))
                } else if count == 0 {
                    isEnded = true
                } else if errno == EAGAIN || errno == ENOTCONN {
                    break
                } else {
                    return false
                }
            }
            while let first = waiting.first, first.due <= now {
                let count = send(to, first.bytes, first.bytes.count, Int32(MSG_NOSIGNAL))
                sent += max(count, 0)
                if count == first.bytes.count {
                    waiting.removeFirst()
                } else if count >= 0 {
                    waiting[0].bytes.removeFirst(count)
                } else if errno == EAGAIN || errno == ENOTCONN {
                    break
                } else {
                    return false
                }
            }
            return !(isEnded && waiting.isEmpty)
        }
    }

    private struct Link {
        var up: Lane
        var down: Lane
        /// Who connected has said something, or is about to, and has heard nothing since.
        var isAsking = true

        /// - Returns: False when the link is over.
        mutating func move(delay: Double, share: Int, now: MonotonicTime) -> Bool {
            let (asked, answered) = (up.taken, down.sent)
            let isUp = up.move(delay: delay, share: share, now: now)
            let isDown = down.move(delay: delay, share: share, now: now)
            if up.taken > asked { isAsking = true }
            if down.sent > answered { isAsking = false }
            return isUp && isDown
        }

        func reset() {
            LoopbackSocket.reset(up.from)
            LoopbackSocket.reset(up.to)
        }
    }

    func run() {
        var links: [Link] = []
        var latest = MonotonicTime.now()
        while !settings.isOver {
            let mode = settings.mode
            while let client = LoopbackSocket.accept(listener) {
                settings.countConnection()
                if mode != .cut, let server = LoopbackSocket.connect(port: settings.target) {
                    links.append(Link(up: Lane(from: client, to: server), down: Lane(from: server, to: client)))
                } else {
                    LoopbackSocket.reset(client)
                }
            }
            switch mode {
            case .pass: move(&links, delay: 0)
            case .delay(let delay):
                let parts = delay.components
                move(&links, delay: Double(parts.seconds) + Double(parts.attoseconds) / 1e18)
            case .slow(let rate):
                let elapsed = MonotonicTime.now().seconds(since: latest)
                move(&links, delay: 0, share: max(1, Int(Double(rate) * elapsed)))
            case .cut:
                for link in links { link.reset() }
                links = []
            case .blackHole: break
            }
            settings.isAnswerDue = mode != .blackHole && links.contains { $0.isAsking }
            latest = MonotonicTime.now()
            usleep(3_000)
        }
        for link in links { link.reset() }
        close(listener)
    }

    private func move(_ links: inout [Link], delay: Double, share: Int = .max) {
        let now = MonotonicTime.now()
        for index in links.indices.reversed() {
            if !links[index].move(delay: delay, share: share, now: now) {
                // HTTP needs no half-open connections: with one direction the other ends.
                close(links[index].up.from)
                close(links[index].up.to)
                links.remove(at: index)
            }
        }
    }
}
