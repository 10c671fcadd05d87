import Media
import NIOPosix
import Synchronization

/// Prompt viewers who were there before, and the longest time for which a picture did not come to one of them.
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
                guard case .picture = packet.content else { return }
                note(number, arrival)
            } onEnd: { [self] in
                state.withLock { $0.ended += 1 }
            }
            players.withLock { $0.append(player) }
            player.start()
        }
    }

    private func note(_ number: Int, _ arrival: MonotonicTime) {
        state.withLock { state in
            if let last = state.last[number] {
                state.longest = max(state.longest, arrival.seconds(since: last) * 1000)
            }
            state.last[number] = arrival
        }
    }

    /// Milliseconds, since the last time this was asked; a viewer for whom nothing comes any more is seen too.
    func takeLongest() -> Double {
        let now = MonotonicTime.now()
        return state.withLock { state in
            defer { state.longest = 0 }
            return state.last.values.reduce(state.longest) { max($0, now.seconds(since: $1) * 1000) }
        }
    }

    /// How many were sent away.
    var ended: Int { state.withLock { $0.ended } }

    /// Lets all leave.
    func stop() {
        for player in players.withLock({ $0 }) { player.stop() }
        players.withLock { $0 = [] }
    }
}
