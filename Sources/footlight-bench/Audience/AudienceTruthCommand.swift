import ArgumentParser
import Foundation
import Media
import Stage
import Viewership

struct AudienceTruthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audience-truth",
        abstract: "A crowd whose truth is known, counted second by second; and what a million viewers take.",
        discussion: "Time is moved by hand, so that half an hour of show takes seconds."
    )

    @Option(help: "Virtual players of the crowd.")
    var players = 100_000

    @Option(help: "Seconds within which they join.")
    var seconds = 1_800

    @Option(help: "Makes the crowd; another one makes another.")
    var seed: UInt64 = 1

    @Flag(help: "Break each rule once as well, and see that it is found out.")
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
            print(broken.isEmpty ? "all rules kept\n" : "RULES BROKEN: \(broken.joined(separator: ", "))\n")
            guard broken.isEmpty else { throw ExitCode.failure }
            if mutants { try kill(crowd) }
        }
        if sessions > 0 { AudienceLoad(sessions: sessions).run() }
    }

    /// Each fault must break a rule.
    private func kill(_ crowd: AudienceCrowd) throws {
        let killed = crowd.run(isKilled: true)
        let brokenByKill = killed.brokenRules(players: players)
        guard brokenByKill.isEmpty else {
            print("RULES BROKEN BY A KILL: \(brokenByKill.joined(separator: ", "))\n")
            throw ExitCode.failure
        }
        print("killed in the middle and started again: all rules kept")
        var survivors = 0
        for mutant in AudienceMutant.allCases {
            let result = crowd.run(mutant)
            var broken = result.brokenRules(players: players)
            // One kill is too little for the rule of half a percent.
            if mutant.isOfKill, result.watched < killed.watched - 1 { broken.append("watch time before the kill") }
            if broken.isEmpty { survivors += 1 }
            print(
                "\(mutant.rawValue): \(broken.isEmpty ? "SURVIVED" : "found out by " + broken.joined(separator: ", "))"
            )
        }
        guard survivors == 0 else { throw ExitCode.failure }
        print("every mutant killed\n")
    }
}
