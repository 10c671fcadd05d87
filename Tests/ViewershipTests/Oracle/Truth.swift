import Stage

@testable import Viewership

/// How many truly watch, from the players' lives alone: differences at each second, added up as time goes on.
struct Truth {
    /// What the ledger may say: exactly `low` of connections, between `low` and `high` of viewers by requests.
    struct Range {
        var low = PerProtocol<Int>.zero
        /// Those who watch, and those who left within the time-out.
        var high = PerProtocol<Int>.zero
    }

    private var low: [PerProtocol<Int>]
    private var high: [PerProtocol<Int>]
    private var range = Range()

    init(_ players: [VirtualPlayer]) {
        let seconds = (players.map(\.leave).max() ?? 0) / 1000 + 64
        low = Array(repeating: .zero, count: seconds)
        high = low
        for player in players {
            let kind = player.playback
            add(kind, from: player.qualified, to: player.leave, in: \.low)
            for blip in player.blips where kind.isConnection {
                add(kind, from: blip.upperBound, to: blip.lowerBound, in: \.low)
            }
            add(kind, from: player.qualified, to: player.leave + player.tail, in: \.high)
            for dry in player.dry {
                add(kind, from: dry.upperBound, to: dry.lowerBound, in: \.low)
                // Noticed within the second.
                add(kind, from: dry.upperBound, to: dry.lowerBound + 1000, in: \.high)
            }
        }
    }

    /// One more from the first whole second at or after `start`, one fewer from the one at or after `end`.
    private mutating func add(
        _ kind: PlaybackProtocol,
        from start: Int,
        to end: Int,
        in path: WritableKeyPath<Truth, [PerProtocol<Int>]>
    ) {
        self[keyPath: path][(start + 999) / 1000][kind] += 1
        self[keyPath: path][(end + 999) / 1000][kind] -= 1
    }

    /// The truth at `moment`; to be asked second by second, from 0.
    mutating func range(at moment: Int) -> Range {
        let second = moment / 1000
        if second < low.count {
            range.low += low[second]
            range.high += high[second]
        }
        return range
    }
}
