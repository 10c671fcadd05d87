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

        var description: String {
            "joins \(joins), below \(belowTruth), above \(aboveTruth), watch \(watchTime), left \(leftOver), "
                + "identities \(identities)"
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
            case reopen
            case playlist
            case segment
        }
    }

    static let rooms = ["one", "two", "three"]
    static let connectionKinds: [PlaybackProtocol] = [.rtmp, .flv]
    static let requestKinds: [PlaybackProtocol] = [.hls, .llhls]

    private(set) var players: [VirtualPlayer]
    private(set) var events: [Event]
    let end: Int

    init(players count: Int, seconds: Int, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        players = (0..<count).map { _ in .random(within: seconds * 1000, using: &random) }
        end = players.map(\.leave).max() ?? 0
        var events: [Event] = []
        for (index, player) in players.enumerated() {
            events += player.playback.isConnection ? Self.connection(player, index) : Self.requests(player, index)
        }
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
        for blip in player.blips {
            events.append(Event(at: blip.lowerBound, player: index, kind: .close(.timedOut)))
            events.append(Event(at: blip.upperBound, player: index, kind: .reopen))
        }
        events.append(Event(at: player.leave, player: index, kind: .close(.left)))
        return events
    }

    private static func requests(_ player: VirtualPlayer, _ index: Int) -> [Event] {
        player.polls.flatMap { poll in
            let playlist = Event(at: poll, player: index, kind: .playlist)
            guard poll + 20 < player.leave, index % 4 == 0 else { return [playlist] }
            return [playlist, Event(at: poll + 20, player: index, kind: .segment)]
        }
    }
}
