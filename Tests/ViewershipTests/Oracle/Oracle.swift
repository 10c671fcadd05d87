import Media
import Stage

@testable import Viewership

/// Plays a crowd whose truth is known to a ledger, and compares what the ledger says with the truth, second by second.
struct Oracle {
    /// A way to break what the ledger hears, as a faulty fan-out or ledger would: each must be found out.
    enum Mutation {
        case none
        /// Ends of connections are not told.
        case lostCloses
        /// A reconnect comes with a new id.
        case newIDAfterBlip
        /// Most playlist fetches are not told.
        case lostPolls
        /// Time does not move.
        case stoppedClock
        /// The watching is taken to go on until the time-out.
        case endNotBackDated
        /// A relay of ours counts as a viewer.
        case countedRelay
        /// A change of rendition comes with a new id, and so counts as a join.
        case joinAtSwitch
        /// Ids that somebody made up are taken for ours.
        case unprovenIDs
        /// Half of the players are counted by another gateway from the middle on, and the two are added up.
        case twoGateways
        /// The time-out is shorter than a player may be cut off for: of one that is, nothing is heard until it has passed.
        case shortTimeout
        /// After a kill nothing is found on disk.
        case lostHistory
        /// After a kill the sessions found on disk join again.
        case joinsAgain
        /// After a kill the time between a viewer's last playlist and the kill is in no figure.
        case lostPollAtKill
        /// A connection that comes back is taken to be in the rendition that it had before.
        case lostTurns
        /// That media was sent is not told.
        case lostMedia
        /// Players are taken to be behind a cache which media may come from, so that playlists alone prove them.
        case unseenMedia
        /// What a log tells is counted as of when it is told.
        case linesOfNow
        /// What a log tells once more is counted as of when it is told.
        case repeatsOfNow
        /// Nobody says by how much a log lags behind.
        case untoldLag
        /// Where somebody is counts only if the first line of the log tells it.
        case firstPlace
    }

    /// What viewers do besides watching and being cut off, and how the ledger hears of them.
    struct Manner: OptionSet, Sendable {
        let rawValue: Int

        /// A log tells of viewers by requests: late, some lines much later, half of its bundles twice, and where somebody is
        /// by a later line alone.
        static let logged = Manner(rawValue: 1)
        /// Some ask for a playlist every 13, 15, 30 or 60 seconds.
        static let rare = Manner(rawValue: 2)
        /// Viewers by HTTP-FLV who come back do so in another rendition, half of them before their old connection has gone.
        static let turning = Manner(rawValue: 4)
        /// The media of viewers by requests is seen; and a quarter as many as there are viewers ask for playlists alone.
        static let seen = Manner(rawValue: 8)
    }

    /// The gateway is killed and started again, at whole seconds.
    struct Crash {
        var at: Int
        var downtime: Int
        /// Seconds in which connections and players are back.
        var returning = 5

        var back: Int { at + downtime }
        var over: Int { back + returning }
        /// From what was written last to the return, in milliseconds.
        var outage: Range<Int> { (at - 1) * 1000..<back * 1000 }
    }

    /// How often each rule was broken.
    struct Verdict: Equatable, CustomStringConvertible {
        var joins = 0
        var belowTruth = 0
        var aboveTruth = 0
        var watchTime = 0
        var leftOver = 0
        var identities = 0
        var switches = 0
        var regions = 0
        var excluded = 0

        var description: String {
            "joins \(joins), below \(belowTruth), above \(aboveTruth), watch \(watchTime), left \(leftOver), "
                + "identities \(identities), switches \(switches), regions \(regions), excluded \(excluded)"
        }
    }

    struct Event {
        var at: Int
        var player: Int
        var kind: Kind

        enum Kind {
            case open
            case watched(since: Int)
            case close(AudienceEvent.CloseReason)
            /// The connection comes back; the first time is 1.
            case reopen(number: Int)
            case playlist
            case segment
            /// Media was sent.
            case media
        }
    }

    static let rooms = ["one", "two", "three"]
    static let connectionKinds: [PlaybackProtocol] = [.rtmp, .flv]
    static let requestKinds: [PlaybackProtocol] = [.hls, .llhls]
    /// Milliseconds between the playlists of those who ask rarely.
    private static let rareIntervals = [13_000, 15_000, 30_000, 60_000]

    let manner: Manner
    let seed: UInt64
    private(set) var players: [VirtualPlayer]
    private(set) var events: [Event]
    /// Who asks for playlists alone, every two seconds, and when; seconds.
    let lurkers: [Range<Int>]
    let end: Int

    init(players count: Int, seconds: Int, seed: UInt64, manner: Manner = []) {
        var random = SeededGenerator(seed: seed)
        var players: [VirtualPlayer] = (0..<count).map { _ in .random(within: seconds * 1000, using: &random) }
        for index in players.indices {
            if manner.contains(.rare), players[index].playback == .hls, index % 4 == 2 {
                players[index].askRarely(every: Self.rareIntervals[index / 4 % 4], times: 3 + index / 16 % 4)
            }
            if manner.contains(.turning), players[index].playback == .flv, index % 2 == 1 { players[index].overtake() }
        }
        let lurkerCount = manner.contains(.seen) ? count / 4 : 0
        lurkers = (0..<lurkerCount).map { _ in
            let join = Int.random(in: 0..<seconds, using: &random)
            return join..<join + Int.random(in: 10...90, using: &random)
        }
        end = players.map(\.leave).max() ?? 0
        var events: [Event] = []
        for (index, player) in players.enumerated() {
            events +=
                player.playback.isConnection ? Self.connection(player, index) : Self.requests(player, index, manner)
        }
        (self.manner, self.seed, self.players) = (manner, seed, players)
        self.events = events.sorted { ($0.at, $0.player) < ($1.at, $1.player) }
    }

    /// Puts everybody into one room.
    mutating func oneRoom() {
        for index in players.indices { players[index].room = 0 }
    }

    /// The most who truly watched at once, from their first media to their leaving.
    var truePeak: Int {
        var moves: [(at: Int, change: Int)] = []
        for player in players {
            moves.append((player.join, 1))
            moves.append((player.leave, -1))
            for blip in player.blips where player.playback.isConnection {
                moves.append((blip.lowerBound, -1))
                moves.append((blip.upperBound, 1))
            }
        }
        var (live, peak) = (0, 0)
        for move in moves.sorted(by: { ($0.at, $0.change) < ($1.at, $1.change) }) {
            live += move.change
            peak = max(peak, live)
        }
        return peak
    }

    private static func connection(_ player: VirtualPlayer, _ index: Int) -> [Event] {
        var events = [Event(at: player.join, player: index, kind: .open)]
        events.append(Event(at: player.qualified, player: index, kind: .watched(since: player.join)))
        for (number, blip) in player.blips.enumerated() {
            events.append(Event(at: blip.lowerBound, player: index, kind: .close(.timedOut)))
            events.append(Event(at: blip.upperBound, player: index, kind: .reopen(number: number + 1)))
        }
        for (number, turn) in player.turns.enumerated() {
            events.append(Event(at: turn, player: index, kind: .reopen(number: number + 1)))
            events.append(Event(at: turn + 200, player: index, kind: .close(.left)))
        }
        events.append(Event(at: player.leave, player: index, kind: .close(.left)))
        return events
    }

    private static func requests(_ player: VirtualPlayer, _ index: Int, _ manner: Manner) -> [Event] {
        player.polls.flatMap { poll in
            var events = [Event(at: poll, player: index, kind: .playlist)]
            // A log tells of playlists alone.
            guard !manner.contains(.logged) else { return events }
            if index % 4 == 0, poll + 20 < player.leave {
                events.append(Event(at: poll + 20, player: index, kind: .segment))
            }
            // Who asks rarely has the time that it takes only with media.
            if manner.contains(.seen) || player.interval > 0, poll + 30 < player.leave {
                events.append(Event(at: poll + 30, player: index, kind: .media))
            }
            return events
        }
    }
}
