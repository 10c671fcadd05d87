import FootlightTesting
import Foundation
import Glibc
import Media
import Synchronization

/// Viewers who all come within a few seconds, and stay; on one thread.
///
/// Until its first key picture each is read as soon as something is there; from then on as the viewers of a `Crowd`.
final class Storm: Sendable {
    private struct Viewer {
        let socket: Int32
        /// What it says now and then.
        let habit: [UInt8]?
    }

    private struct Joiner {
        let began: MonotonicTime
        let way: StormWay
        var skim: any StreamSkim
        var isConnected = false
        /// Bytes of the server's answer to what was said first that are still to come before the rest is said.
        var answer: Int
    }

    /// Seconds after the last join in which viewers may still get their first picture.
    private static let patience = 10.0
    private static let sweep: Int64 = 200

    /// Sweeps from one thing that a viewer says to the next.
    private static let habit = 10

    private let ways: [StormWay]
    private let size: Int
    private let duration: Double
    private let figures = Mutex(StormFigures())
    private let joined = Atomic(false)
    private let isStopped = Atomic(false)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Lets the viewers come, evenly over `seconds`, one by each way after the other.
    init(of size: Int, by ways: [StormWay], within seconds: Double) {
        self.size = size
        self.ways = ways
        duration = seconds
        Thread.detachNewThread {
            self.run()
            self.hasEnded.signal()
        }
    }

    /// Everybody has come, and has a picture or was refused.
    var isOver: Bool { joined.load(ordering: .relaxed) }

    /// What they met with so far.
    var result: StormFigures { figures.withLock { $0 } }

    /// Lets all leave; called once.
    func leave() {
        isStopped.store(true, ordering: .relaxed)
        hasEnded.wait()
    }

    private func run() {
        let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        var joiners: [Int32: Joiner] = [:]
        var watching: [Viewer] = []
        var sweeps = 0
        defer {
            for socket in watching.map(\.socket) + Array(joiners.keys) { close(socket) }
            scratch.deallocate()
        }
        let start = MonotonicTime.now()
        var begun = 0
        var nextSweep = start
        while !isStopped.load(ordering: .relaxed) {
            let now = MonotonicTime.now()
            let elapsed = now.seconds(since: start)
            while begun < min(size, Int(Double(size) * elapsed / duration) + 1) {
                begin(ways[begun % ways.count], &joiners)
                begun += 1
            }
            for socket in ready(joiners, within: begun < size || !joiners.isEmpty ? 1 : 50) {
                guard let isDone = serve(socket, scratch, &joiners) else { continue }
                let joiner = joiners.removeValue(forKey: socket)
                if isDone {
                    watching.append(Viewer(socket: socket, habit: joiner?.skim.habit))
                } else {
                    close(socket)
                }
            }
            if begun == size, !isOver, joiners.isEmpty || elapsed > duration + Self.patience {
                figures.withLock {
                    $0.failed += joiners.count
                    $0.lasted = elapsed
                }
                joined.store(true, ordering: .relaxed)
            }
            if now >= nextSweep {
                drain(&watching, scratch, turn: sweeps % Self.habit)
                sweeps += 1
                nextSweep = now.advanced(milliseconds: Self.sweep)
            }
        }
    }

    private func begin(_ way: StormWay, _ joiners: inout [Int32: Joiner]) {
        guard let socket = try? ViewerSocket.begin(port: way.port) else {
            figures.withLock { $0.failed += 1 }
            return
        }
        joiners[socket] = Joiner(
            began: .now(),
            way: way,
            skim: way.skim(),
            answer: way.dialogue.answerLength
        )
    }

    /// Those who are connected now, and those for whom something came.
    private func ready(_ joiners: [Int32: Joiner], within milliseconds: Int32) -> [Int32] {
        var places = joiners.map { socket, joiner in
            pollfd(fd: socket, events: Int16(joiner.isConnected ? POLLIN : POLLOUT), revents: 0)
        }
        guard poll(&places, nfds_t(places.count), milliseconds) > 0 else { return [] }
        return places.filter { $0.revents != 0 }.map(\.fd)
    }

    /// - Returns: Whether the joiner stays as a viewer; nil while it is still joining.
    private func serve(
        _ socket: Int32,
        _ scratch: UnsafeMutableRawBufferPointer,
        _ joiners: inout [Int32: Joiner]
    ) -> Bool? {
        guard var joiner = joiners[socket] else { return nil }
        if !joiner.isConnected {
            joiner.isConnected = true
            joiners[socket] = joiner
            guard (try? ViewerSocket.send(joiner.way.dialogue.hello, on: socket)) != nil else { return fail() }
            return nil
        }
        defer { joiners[socket] = joiner }
        while true {
            let taken = recv(socket, scratch.baseAddress, scratch.count, Int32(MSG_DONTWAIT))
            if taken < 0, errno == EAGAIN || errno == EINTR { return nil }
            guard taken > 0 else { return fail() }
            if joiner.answer > 0 {
                joiner.answer -= taken
                let isAnswered = joiner.answer <= 0
                if isAnswered, (try? ViewerSocket.send(joiner.way.dialogue.request, on: socket)) == nil {
                    return fail()
                }
            }
            let result = joiner.skim.take(UnsafeRawBufferPointer(rebasing: scratch[..<taken]))
            switch result {
            case .keyPicture?:
                let wait = MonotonicTime.now().seconds(since: joiner.began) * 1000
                figures.withLock { $0.waits[joiner.way.name, default: Samples()].add(wait) }
                return true
            case .refused?:
                figures.withLock { $0.refused += 1 }
                return false
            case .ask(let question)?:
                guard (try? ViewerSocket.send(question, on: socket)) != nil else { return fail() }
            case nil: continue
            }
        }
    }

    private func fail() -> Bool {
        figures.withLock { $0.failed += 1 }
        return false
    }

    /// - Parameter turn: Of those who say something now and then, whose it is.
    private func drain(_ watching: inout [Viewer], _ scratch: UnsafeMutableRawBufferPointer, turn: Int) {
        var closed: Set<Int32> = []
        for viewer in watching {
            let socket = viewer.socket
            if let habit = viewer.habit, Int(socket) % Self.habit == turn {
                guard (try? ViewerSocket.send(habit, on: socket)) != nil else {
                    closed.insert(socket)
                    continue
                }
            }
            let taken = recv(socket, scratch.baseAddress, 1 << 20, Int32(MSG_DONTWAIT) | Int32(MSG_TRUNC))
            if taken == 0 || (taken < 0 && errno != EAGAIN && errno != EINTR) { closed.insert(socket) }
        }
        guard !closed.isEmpty else { return }
        watching.removeAll { closed.contains($0.socket) }
        for socket in closed { close(socket) }
        figures.withLock { $0.closed += closed.count }
    }
}
