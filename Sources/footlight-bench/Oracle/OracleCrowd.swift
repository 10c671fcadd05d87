import FootlightTesting
import Foundation
import Media
import Synchronization

/// Where the players of an oracle go, and when.
struct OraclePlace: Sendable {
    /// Where each kind of player connects to.
    let ports: [OracleLife.Kind: Int]
    let room: String
    let script: OracleScript
}

/// Players by the thousand whose every coming and going is known, on one thread.
///
/// It looks at every player some forty times a second instead of waiting for each: a receiver that the kernel has to
/// wake for every write would take time from the gateway.
final class OracleCrowd: Sendable {
    private static let sweep: Int64 = 25

    private let lives = Mutex<[OracleLife]>([])
    private let longestSweep = Mutex(0.0)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Begins at once.
    ///
    /// - Parameters:
    ///   - counts: Players at a time, by kind.
    ///   - start: The zero of all times.
    init(_ counts: [OracleLife.Kind: Int], _ place: OraclePlace, start: MonotonicTime) {
        Thread.detachNewThread {
            self.run(counts, place, start)
            self.hasEnded.signal()
        }
    }

    /// Waits until everybody has left.
    ///
    /// - Returns: What they did, and the longest time in which nobody was looked at, in seconds.
    func finish() -> (lives: [OracleLife], longestSweep: Double) {
        hasEnded.wait()
        return (lives.withLock { $0 }, longestSweep.withLock { $0 })
    }

    private func run(_ counts: [OracleLife.Kind: Int], _ place: OraclePlace, _ start: MonotonicTime) {
        let players = OracleLife.Kind.allCases.flatMap { kind in
            (0..<(counts[kind] ?? 0)).map { OraclePlayer(kind, $0, place) }
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 17, alignment: 16)
        defer { buffer.deallocate() }
        var next = MonotonicTime.now()
        var last = next
        while MonotonicTime.now().seconds(since: start) < place.script.end + 0.5 {
            for player in players { player.move(MonotonicTime.now().seconds(since: start), buffer) }
            let now = MonotonicTime.now()
            let length = now.seconds(since: last)
            longestSweep.withLock { $0 = max($0, length) }
            last = now
            next = max(next.advanced(milliseconds: Self.sweep), now)
            sleepUntil(next)
        }
        lives.withLock { $0 = players.flatMap(\.lives) }
    }
}
