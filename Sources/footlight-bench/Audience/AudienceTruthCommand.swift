import ArgumentParser
import Foundation
import Media
import Stage
import Viewership

struct AudienceTruthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audience-truth",
        abstract: "Checks the viewer count of a simulated crowd each second, and measures a million viewers.",
        discussion: "The clock is virtual, so that half an hour of show takes seconds."
    )

    @Option(help: "Virtual players of the crowd.")
    var players = 100_000

    @Option(help: "Seconds within which the players join.")
    var seconds = 1_800

    @Option(help: "The seed of the random crowd.")
    var seed: UInt64 = 1

    @Flag(help: "Also inject each fault once, and check that it is detected.")
    var mutants = false

    @Option(help: "Viewers by requests whose memory and time per request are measured.")
    var sessions = 1_000_000

    func run() async throws {
        if players > 0 {
            let crowd = AudienceCrowd(players: players, seconds: seconds, seed: seed)
            let start = Date()
            let result = crowd.run()
            let table = [
                ("joins", "\(result.joins) of \(players)"),
                ("live below the truth, seconds", "\(result.below)"),
                ("live above the truth and its departures, seconds", "\(result.above)"),
                ("identities broken, snapshots", "\(result.broken)"),
                ("live at the end", "\(result.left)"),
                ("watch time against the truth, %", ((result.watched / result.truth - 1) * 100).text(4)),
                ("settled peak against the live one", "\(result.settledPeak) / \(result.livePeak)"),
                ("wall time, s", Date().timeIntervalSince(start).text(1)),
            ]
            for (name, value) in table { print("\(name): \(value)") }
            let broken = result.brokenRules(players: players)
            print(broken.isEmpty ? "all rules hold\n" : "RULES BROKEN: \(broken.joined(separator: ", "))\n")
            guard broken.isEmpty else { throw ExitCode.failure }
            if mutants { try kill(crowd) }
        }
        if sessions > 0 { AudienceLoad(sessions: sessions).run() }
    }

    /// Checks that each injected fault breaks a rule.
    private func kill(_ crowd: AudienceCrowd) throws {
        let killed = crowd.run(isKilled: true)
        let brokenByKill = killed.brokenRules(players: players)
        guard brokenByKill.isEmpty else {
            print("RULES BROKEN BY A KILL: \(brokenByKill.joined(separator: ", "))\n")
            throw ExitCode.failure
        }
        print("killed in the middle and restarted: all rules hold")
        var survivors = 0
        for mutant in AudienceMutant.allCases {
            let result = crowd.run(mutant)
            var broken = result.brokenRules(players: players)
            // One kill is too small an error for the rule of half a percent.
            if mutant.isOfKill, result.watched < killed.watched - 1 { broken.append("watch time before the kill") }
            if broken.isEmpty { survivors += 1 }
            print(
                "\(mutant.rawValue): \(broken.isEmpty ? "SURVIVED" : "detected by " + broken.joined(separator: ", "))"
            )
        }
        guard survivors == 0 else { throw ExitCode.failure }
        print("every fault detected\n")
    }
}

/// A fault injected into the count; at least one rule must detect each of them.
enum AudienceMutant: String, CaseIterable {
    /// The close of a connection is not recorded.
    case lostCloses
    /// A reconnecting viewer gets a new id.
    case newIDAfterBlip
    /// Most playlist requests are not recorded.
    case lostPolls
    /// No session times out.
    case stoppedClock
    /// A leave is dated to the timeout instead of to the last request.
    case endNotBackDated
    /// A relay counts as a viewer.
    case countedRelay
    /// A rendition switch makes a new viewer.
    case joinAtSwitch
    /// Forged ids are accepted.
    case unprovenIDs
    /// Two gateways count the same viewers independently.
    case twoGateways
    /// The timeout is shorter than a player's interruption: its requests are not recorded until the timeout has passed.
    case shortTimeout
    /// Nothing is recovered from disk after a kill.
    case lostHistory
    /// After a kill, the recovered sessions join again.
    case joinsAgain
    /// After a kill, the time between a viewer's last playlist and the kill is lost.
    case lostPollAtKill

    /// Whether the fault shows only when the gateway is killed.
    var isOfKill: Bool {
        switch self {
        case .lostHistory, .joinsAgain, .lostPollAtKill: true
        default: false
        }
    }
}

/// An in-memory stand-in for the stored history: enough to recover a ledger after a kill.
struct StoredAudience {
    private var lastSeen: Int64?
    private var broadcasts: [Int64: BroadcastRow] = [:]
    private var totals: [MinuteRow.Key: MinuteRow] = [:]
    private var sessions: [UInt64: SessionRow] = [:]

    mutating func write(_ batch: HistoryBatch) {
        lastSeen = batch.asOf
        broadcasts.merge(batch.broadcasts) { $1 }
        for row in batch.sessions.values { sessions[row.code] = row.isClosed ? nil : row }
        for var row in batch.minutes.values where row.key.dimensions != nil {
            row.key.minute = 0
            guard var sum = totals[row.key] else {
                totals[row.key] = row
                continue
            }
            sum.counts += row.counts
            totals[row.key] = sum
        }
    }

    /// Returns the state from which the next ledger recovers.
    func recovered(_ mutant: AudienceMutant?) -> RecoveredAudience {
        var sessions = mutant == .joinsAgain ? [] : Array(sessions.values)
        if mutant == .lostPollAtKill {
            for index in sessions.indices where sessions[index].watchedUntil != nil {
                sessions[index].watchedUntil = lastSeen
            }
        }
        return RecoveredAudience(
            lastSeen: lastSeen,
            broadcasts: Array(broadcasts.values),
            totals: Array(totals.values),
            sessions: sessions
        )
    }
}
