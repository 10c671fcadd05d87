import FootlightTesting
import Foundation
import Glibc
import Media
import Synchronization

/// Viewers who all come within a few seconds, and stay; on one thread.
///
/// Until its first key picture each is read as soon as something is there; from then on as the viewers of a `Crowd`.
final class Storm: Sendable {
    private struct Joiner {
        let began: MonotonicTime
        /// Of which kind it is.
        let dialogue: Int
        var skim: any StreamSkim
        var isConnected = false
        /// Bytes of the server's answer to what was said first that are still to come before the rest is said.
        var answer: Int
    }

    /// Seconds after the last join in which viewers may still get their first picture.
    private static let patience = 10.0
    private static let sweep: Int64 = 200

    private let port: [Int]
    private let dialogues: [Dialogue]
    private let skims: [@Sendable () -> any StreamSkim]
    private let size: Int
    private let duration: Double
    private let figures = Mutex(StormFigures())
    private let joined = Atomic(false)
    private let isStopped = Atomic(false)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Lets the viewers come, evenly over `seconds`, one of each server value after the other.
    init(of size: Int, at servers: [MediaServer], within seconds: Double) {
        self.size = size
        duration = seconds
        port = servers.map(\.viewerPort)
        dialogues = servers.map(\.dialogue)
        skims = servers.map { server in
            switch server.playback {
            case .rtmp: { RTMPSkim() }
            case .flv: { FLVSkim() }
            }
        }
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
        var watching: [Int32] = []
        defer {
            for socket in watching + Array(joiners.keys) { close(socket) }
            scratch.deallocate()
        }
        let start = MonotonicTime.now()
        var begun = 0
        var nextSweep = start
        while !isStopped.load(ordering: .relaxed) {
            let now = MonotonicTime.now()
            let elapsed = now.seconds(since: start)
            while begun < min(size, Int(Double(size) * elapsed / duration) + 1) {
                begin(begun % dialogues.count, &joiners)
                begun += 1
            }
            for socket in ready(joiners, within: begun < size || !joiners.isEmpty ? 1 : 50) {
                guard let isDone = serve(socket, scratch, &joiners) else { continue }
                joiners[socket] = nil
                if isDone { watching.append(socket) } else { close(socket) }
            }
            if begun == size, !isOver, joiners.isEmpty || elapsed > duration + Self.patience {
                figures.withLock {
                    $0.failed += joiners.count
                    $0.lasted = elapsed
                }
                joined.store(true, ordering: .relaxed)
            }
            if now >= nextSweep {
                drain(&watching, scratch)
                nextSweep = now.advanced(milliseconds: Self.sweep)
            }
        }
    }

    private func begin(_ kind: Int, _ joiners: inout [Int32: Joiner]) {
        guard let socket = try? ViewerSocket.begin(port: port[kind]) else {
            figures.withLock { $0.failed += 1 }
            return
        }
        joiners[socket] = Joiner(
            began: .now(),
            dialogue: kind,
            skim: skims[kind](),
            answer: dialogues[kind].answerLength
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
            guard (try? ViewerSocket.send(dialogues[joiner.dialogue].hello, on: socket)) != nil else { return fail() }
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
                if isAnswered, (try? ViewerSocket.send(dialogues[joiner.dialogue].request, on: socket)) == nil {
                    return fail()
                }
            }
            let result = joiner.skim.take(UnsafeRawBufferPointer(rebasing: scratch[..<taken]))
            switch result {
            case .keyPicture?:
                let wait = MonotonicTime.now().seconds(since: joiner.began) * 1000
                figures.withLock { $0.waits.add(wait) }
                return true
            case .refused?:
                figures.withLock { $0.refused += 1 }
                return false
            case nil: continue
            }
        }
    }

    private func fail() -> Bool {
        figures.withLock { $0.failed += 1 }
        return false
    }

    private func drain(_ watching: inout [Int32], _ scratch: UnsafeMutableRawBufferPointer) {
        var closed: Set<Int32> = []
        for socket in watching {
            let taken = recv(socket, scratch.baseAddress, 1 << 20, Int32(MSG_DONTWAIT) | Int32(MSG_TRUNC))
            if taken == 0 || (taken < 0 && errno != EAGAIN && errno != EINTR) { closed.insert(socket) }
        }
        guard !closed.isEmpty else { return }
        watching.removeAll { closed.contains($0) }
        for socket in closed { close(socket) }
        figures.withLock { $0.closed += closed.count }
    }
}
