import Foundation
import Media
import Synchronization
import TestSupport

/// The ports, room and schedule of the players of an oracle run.
struct OracleTarget: Sendable {
    /// The port to which each kind of player connects.
    let ports: [OraclePlayback.Kind: Int]
    let room: String
    let script: OracleScript
}

/// Thousands of players with known join and leave times, on one thread.
///
/// The thread polls every player some forty times a second instead of waiting for each: waking a receiver for every
/// write would take processor time from the gateway.
final class OracleCrowd: Sendable {
    private static let sweep: Int64 = 25

    private let playbacks = Mutex<[OraclePlayback]>([])
    private let longestSweep = Mutex(0.0)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Starts the players at once.
    ///
    /// - Parameters:
    ///   - counts: Concurrent players by kind.
    ///   - start: The origin of all times.
    init(_ counts: [OraclePlayback.Kind: Int], _ target: OracleTarget, start: MonotonicTime) {
        Thread.detachNewThread {
            self.run(counts, target, start)
            self.hasEnded.signal()
        }
    }

    /// Waits until all players have left.
    ///
    /// - Returns: The playback of each player, and the longest interval between two polls in seconds.
    func finish() -> (playbacks: [OraclePlayback], longestSweep: Double) {
        hasEnded.wait()
        return (playbacks.withLock { $0 }, longestSweep.withLock { $0 })
    }

    private func run(_ counts: [OraclePlayback.Kind: Int], _ target: OracleTarget, _ start: MonotonicTime) {
        let players = OraclePlayback.Kind.allCases.flatMap { kind in
            (0..<(counts[kind] ?? 0)).map { OraclePlayer(kind, $0, target) }
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 17, alignment: 16)
        defer { buffer.deallocate() }
        var next = MonotonicTime.now()
        var last = next
        while MonotonicTime.now().seconds(since: start) < target.script.end + 0.5 {
            for player in players { player.advance(MonotonicTime.now().seconds(since: start), buffer) }
            let now = MonotonicTime.now()
            let length = now.seconds(since: last)
            longestSweep.withLock { $0 = max($0, length) }
            last = now
            next = max(next.advanced(milliseconds: Self.sweep), now)
            sleepUntil(next)
        }
        playbacks.withLock { $0 = players.flatMap(\.playbacks) }
    }
}

/// The random schedule of the players; times are seconds since the start of the run.
struct OracleScript: Sendable {
    /// The time from which no player joins, and by which all have left.
    let end: Double
    /// The time within which the first players join.
    let ramp: Double
    /// Seconds between two playlist requests; players vary it by a tenth.
    static let poll = 2.0
    /// The minimum playback in seconds, after which a player is certainly proven.
    static let shortest = 15.0

    init(seconds: Double) {
        end = seconds
        ramp = min(20, seconds / 4)
    }

    /// Returns the playback duration of the next player: some are short, and a few last to the end.
    func stay() -> Double {
        Self.shortest + Double.random(in: 0...1) * Double.random(in: 0...1) * 150
    }

    /// Returns the leave time of a player whose playback would last beyond the end.
    ///
    /// The times are spread: players that wait for the next segment send their requests together, so that a common
    /// leave time would put all of them at the same distance from their last playlist.
    func lastMoment() -> Double { end - .random(in: 0...2 * Self.poll) }

    /// Returns the seconds between two players of one slot.
    func pause() -> Double { .random(in: 0.2...8) }

    /// Returns the delay and duration of an interruption; nil for a player without one.
    func interruption() -> (after: Double, length: Double)? {
        guard Double.random(in: 0...1) < 0.3 else { return nil }
        return (.random(in: 8...40), .random(in: 0.5...6))
    }
}
