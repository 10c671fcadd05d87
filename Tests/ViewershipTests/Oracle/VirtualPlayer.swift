import Stage

/// One viewer whose life is known beforehand, in milliseconds since the start.
struct VirtualPlayer {
    var playback: PlaybackProtocol
    var room: Int
    var join: Int
    var leave: Int
    /// When it was cut off for a moment: a connection reconnects after it, a viewer by requests asks for nothing
    /// meanwhile.
    var blips: [Range<Int>] = []
    /// When it is proven to watch, and counts.
    var qualified = 0
    /// Its playlist fetches; none for a connection.
    var polls: [Int] = []

    /// Joins within `duration`, stays for 8 seconds and longer, and is cut off now and then.
    static func random(within duration: Int, using random: inout SeededGenerator) -> VirtualPlayer {
        let playback: PlaybackProtocol =
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5: .hls
            case 5: .llhls
            case 6..<8: .rtmp
            default: .flv
            }
        let join = Int.random(in: 0..<duration, using: &random)
        let leave = join + 8000 + Int.random(in: 0..<300, using: &random) * Int.random(in: 0..<300, using: &random)
        var player = VirtualPlayer(
            playback: playback,
            room: Int.random(in: 0..<3, using: &random),
            join: join,
            leave: leave
        )
        var next = join + 7000 + Int.random(in: 0..<30_000, using: &random)
        while next < leave - 1000 {
            let length = Int.random(in: 500...8000, using: &random)
            guard next + length < leave - 500 else { break }
            player.blips.append(next..<next + length)
            next += length + 1000 + Int.random(in: 0..<60_000, using: &random)
        }
        playback.isConnection ? player.qualify() : player.makePolls(using: &random)
        return player
    }

    private mutating func qualify() {
        qualified = join + 5000
    }

    private mutating func makePolls(using random: inout SeededGenerator) {
        let interval = playback == .llhls ? 1000 : 2000
        var next = join
        while next < leave {
            polls.append(next)
            if qualified == 0, next - join >= 2000 { qualified = next }
            next += interval + Int.random(in: -interval / 10...interval / 10, using: &random)
            if let blip = blips.first(where: { $0.contains(next) }) { next = blip.upperBound }
        }
    }

    /// Whether it truly watches at `moment`: of a connection, whether it is open.
    func watches(at moment: Int) -> Bool {
        guard qualified <= moment, moment < leave else { return false }
        return !(playback.isConnection && blips.contains { $0.contains(moment) })
    }

    /// Whether it would be silent if every moment in which it is cut off lasted at least that long, in milliseconds.
    func isCutOff(at moment: Int, for length: Int) -> Bool {
        blips.contains { $0.lowerBound <= moment && moment < $0.lowerBound + length }
    }

    /// Milliseconds truly watched.
    var watched: Int {
        leave - join - (playback.isConnection ? blips.map(\.count).reduce(0, +) : 0)
    }

    /// The same when no gateway was there for a while: a connection is cut, and who comes meanwhile by requests finds
    /// nothing to play; who plays by requests plays on from what it has.
    func watched(besides outage: Range<Int>) -> Int {
        guard playback.isConnection else {
            return outage.contains(join) ? leave - min(leave, outage.upperBound) : watched
        }
        let cut = outage.clamped(to: join..<leave)
        return watched - cut.count + blips.map { $0.clamped(to: cut).count }.reduce(0, +)
    }
}
