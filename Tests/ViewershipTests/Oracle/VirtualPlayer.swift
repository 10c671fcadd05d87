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
    /// When its connection is followed by another one in another rendition, before it has gone.
    var turns: [Int] = []
    /// How far apart its playlist fetches are, where that is more than usual; otherwise 0.
    var interval = 0

    /// For how long a player goes on from what it has in its buffer.
    static let buffer = 22_000

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

    /// Asks for a playlist only every `interval` milliseconds, `times` times, and leaves half of what it has then later.
    mutating func askRarely(every interval: Int, times: Int) {
        self.interval = interval
        blips = []
        polls = (0..<times).map { join + $0 * interval }
        qualified = join + interval
        leave = join + (times - 1) * interval + min(interval, Self.buffer) / 2
    }

    /// Comes back before its old connection has gone, wherever it was cut off.
    mutating func overtake() {
        turns = blips.map(\.lowerBound)
        blips = []
    }

    /// When it has nothing left to play, as it asks too rarely; what proves that it watches is watched whole.
    var dry: [Range<Int>] {
        guard interval > Self.buffer else { return [] }
        return polls.dropFirst().dropLast().map { $0 + Self.buffer..<$0 + interval }
    }

    /// How long after its leaving it may count.
    var tail: Int {
        guard interval == 0 else { return 16_000 }
        return playback.isConnection ? 0 : playback == .llhls ? 10_000 : 12_000
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
        leave - join - (playback.isConnection ? blips : dry).map(\.count).reduce(0, +)
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
