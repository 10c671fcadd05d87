import FootlightTesting
import Foundation
import Media

/// What each player did and what the gateway says of each session, for whoever looks into a figure that is wrong.
struct OracleDetails {
    private struct Player: Encodable {
        let way: String
        let watched: [[Double]]
        let there: [Double]
        let answers: [Double]
        let left: Double
    }

    private struct Session: Encodable {
        let way: String
        let watched: Double
        let start: Double
        let end: Double
        let away: [[Double]]
    }

    private struct Sample: Encodable {
        let at: Double
        let live: [String: Int]
        let logLag: Double
        let logged: Double
    }

    private struct Everything: Encodable {
        let kills: [[Double]]
        let players: [Player]
        let sessions: [Session]
        let samples: [Sample]
    }

    private let everything: Everything

    /// - Parameter start: The zero of all times.
    init(
        start: MonotonicTime,
        _ lives: [OracleLife],
        _ samples: [OracleSample],
        _ sessions: [JSONValue],
        _ kills: [OracleTruth.Kill]
    ) {
        let zero = Date().timeIntervalSince1970 - MonotonicTime.now().seconds(since: start)
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        func seconds(_ text: String?) -> Double {
            text.flatMap { try? format.parse($0) }.map { $0.timeIntervalSince1970 - zero } ?? -1
        }
        everything = Everything(
            kills: kills.map { [$0.killed, $0.listening] },
            players: lives.map { life in
                Player(
                    way: "\(life.kind)",
                    watched: life.watched.map { [$0.from, $0.to] },
                    there: life.spans.map(\.letIn),
                    answers: life.answers,
                    left: life.left ?? -1
                )
            },
            sessions: sessions.map { json in
                let row = OracleRow(json)
                return Session(
                    way: row.kind.map { "\($0)" } ?? "unknown",
                    watched: row.watched,
                    start: seconds(row.start),
                    end: seconds(row.end),
                    away: row.away.map { [seconds($0.from), seconds($0.to)] }
                )
            },
            samples: samples.map { sample in
                let live = sample.byKind.map { ("\($0)", $1) }
                return Sample(
                    at: sample.at,
                    live: Dictionary(uniqueKeysWithValues: live),
                    logLag: sample.logLag,
                    logged: min(sample.logged, sample.at)
                )
            }
        )
    }

    func write(to folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = URL(fileURLWithPath: folder).appendingPathComponent("oracle.json")
        try JSONEncoder().encode(everything).write(to: path)
    }
}
