import Stage
import TestSupport

@testable import Viewership

/// A simulated viewer with a known timeline, in milliseconds since the start.
struct VirtualPlayer {
    var playback: PlaybackProtocol
    var room: Int
    var join: Int
    var leave: Int
    /// Interruptions: a connection reconnects after one, an HLS viewer does not poll during one.
    var interruptions: [Range<Int>] = []
    /// The time of qualification.
    var qualified = 0
    /// The playlist requests; empty for a connection.
    var polls: [Int] = []
    /// The times at which another connection in another rendition opens before the old one closes.
    var turns: [Int] = []
    /// The polling interval where it is rare; otherwise 0.
    var interval = 0

    /// The playing time from a full buffer.
    static let buffer = 22_000

    /// Makes a player that joins within `duration`, stays for at least 8 s, and is interrupted now and then.
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
            player.interruptions.append(next..<next + length)
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
            if let interruption = interruptions.first(where: { $0.contains(next) }) { next = interruption.upperBound }
        }
    }

    /// Polls every `interval` milliseconds, `times` times, and leaves after half of the remaining buffer.
    mutating func askRarely(every interval: Int, times: Int) {
        self.interval = interval
        interruptions = []
        polls = (0..<times).map { join + $0 * interval }
        qualified = join + interval
        leave = join + (times - 1) * interval + min(interval, Self.buffer) / 2
    }

    /// Reconnects before the old connection closes, at each interruption.
    mutating func overtake() {
        turns = interruptions.map(\.lowerBound)
        interruptions = []
    }

    /// The spans with an empty buffer; time that qualifies the session is watched in full.
    var dry: [Range<Int>] {
        guard interval > Self.buffer else { return [] }
        return polls.dropFirst().dropLast().map { $0 + Self.buffer..<$0 + interval }
    }

    /// How long the player may count after it has left.
    var tail: Int {
        guard interval == 0 else { return 16_000 }
        return playback.isConnection ? 0 : playback == .llhls ? 10_000 : 12_000
    }

    /// Whether the player watches at `moment`.
    func watches(at moment: Int) -> Bool {
        guard qualified <= moment, moment < leave else { return false }
        return !(playback.isConnection && interruptions.contains { $0.contains(moment) })
    }

    /// Whether `moment` is within an interruption that is extended to a minimum length, in milliseconds.
    func isCutOff(at moment: Int, for length: Int) -> Bool {
        interruptions.contains { $0.lowerBound <= moment && moment < $0.lowerBound + length }
    }

    /// True watch time, in milliseconds.
    var watched: Int {
        leave - join - (playback.isConnection ? interruptions : dry).map(\.count).reduce(0, +)
    }

    /// Returns the true watch time with an outage: a connection is cut, a new HLS viewer finds nothing to play, and
    /// others play on from their buffers.
    func watched(besides outage: Range<Int>) -> Int {
        guard playback.isConnection else {
            return outage.contains(join) ? leave - min(leave, outage.upperBound) : watched
        }
        let cut = outage.clamped(to: join..<leave)
        return watched - cut.count + interruptions.map { $0.clamped(to: cut).count }.reduce(0, +)
    }
}

/// The true number of viewers from the timelines, as differences per second.
struct Truth {
    /// The range of valid counts: exactly `low` for connections, `low` through `high` for HLS viewers.
    struct Range {
        var low = PerProtocol<Int>.zero
        /// Viewers, and those that left within the timeout.
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
            for interruption in player.interruptions where kind.isConnection {
                add(kind, from: interruption.upperBound, to: interruption.lowerBound, in: \.low)
            }
            add(kind, from: player.qualified, to: player.leave + player.tail, in: \.high)
            for dry in player.dry {
                add(kind, from: dry.upperBound, to: dry.lowerBound, in: \.low)
                // Detected within a second.
                add(kind, from: dry.upperBound, to: dry.lowerBound + 1000, in: \.high)
            }
        }
    }

    /// Adds one viewer from the first whole second at or after `start` to the one at or after `end`.
    private mutating func add(
        _ kind: PlaybackProtocol,
        from start: Int,
        to end: Int,
        in path: WritableKeyPath<Truth, [PerProtocol<Int>]>
    ) {
        self[keyPath: path][(start + 999) / 1000][kind] += 1
        self[keyPath: path][(end + 999) / 1000][kind] -= 1
    }

    /// Returns the range at `moment`; call it second by second, from 0.
    mutating func range(at moment: Int) -> Range {
        let second = moment / 1000
        if second < low.count {
            range.low += low[second]
            range.high += high[second]
        }
        return range
    }
}

/// One value per protocol, without a dictionary.
struct PerProtocol<Value: Sendable>: Sendable {
    private var sdk: Value
    private var rtmp: Value
    private var flv: Value
    private var hls: Value
    private var llhls: Value

    init(repeating value: Value) {
        sdk = value
        rtmp = value
        flv = value
        hls = value
        llhls = value
    }

    subscript(playback: PlaybackProtocol) -> Value {
        get {
            switch playback {
            case .sdk: sdk
            case .rtmp: rtmp
            case .flv: flv
            case .hls: hls
            case .llhls: llhls
            }
        }
        set {
            switch playback {
            case .sdk: sdk = newValue
            case .rtmp: rtmp = newValue
            case .flv: flv = newValue
            case .hls: hls = newValue
            case .llhls: llhls = newValue
            }
        }
    }
}

extension PerProtocol: Equatable where Value: Equatable {}

extension PerProtocol where Value: AdditiveArithmetic {
    static var zero: PerProtocol { PerProtocol(repeating: .zero) }

    /// The sum over all protocols.
    var sum: Value { PlaybackProtocol.allCases.reduce(.zero) { $0 + self[$1] } }

    static func += (left: inout PerProtocol, right: PerProtocol) {
        for playback in PlaybackProtocol.allCases { left[playback] += right[playback] }
    }

    static func - (left: PerProtocol, right: PerProtocol) -> PerProtocol {
        var difference = left
        for playback in PlaybackProtocol.allCases { difference[playback] -= right[playback] }
        return difference
    }
}
