import Media
import NIOPosix
import Synchronization

/// Viewers that joined before the storm, and the longest interval without a frame at one of them.
final class GapProbe: Sendable {
    private struct State {
        var last: [Int: MonotonicTime] = [:]
        var longest = 0.0
        var ended = 0
    }

    private let state = Mutex(State())
    private let players = Mutex<[any StreamPlayer]>([])

    init(_ servers: [MediaServer], count: Int, group: MultiThreadedEventLoopGroup) {
        for number in 0..<count {
            let player = servers[number % servers.count].player(group: group) { [self] packet, arrival in
                guard case .video = packet.content else { return }
                record(number, arrival)
            } onEnd: { [self] in
                state.withLock { $0.ended += 1 }
            }
            players.withLock { $0.append(player) }
            player.start()
        }
    }

    private func record(_ number: Int, _ arrival: MonotonicTime) {
        state.withLock { state in
            if let last = state.last[number] {
                state.longest = max(state.longest, arrival.seconds(since: last) * 1000)
            }
            state.last[number] = arrival
        }
    }

    /// Returns the longest interval since the last call in milliseconds, including the current one of each viewer.
    func drainLongest() -> Double {
        let now = MonotonicTime.now()
        return state.withLock { state in
            defer { state.longest = 0 }
            return state.last.values.reduce(state.longest) { max($0, now.seconds(since: $1) * 1000) }
        }
    }

    /// The number of viewers whose connection ended.
    var ended: Int { state.withLock { $0.ended } }

    /// Disconnects all viewers.
    func stop() {
        for player in players.withLock({ $0 }) { player.stop() }
        players.withLock { $0 = [] }
    }
}
