import ArgumentParser
import Codecs
import Egress
import FootlightTesting

struct PushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Processor time of one output, and what a stalled output does to the mixer's tick."
    )

    @Option(help: "Seconds of each measurement.")
    var seconds = 10

    @Option(help: "How often the mixer runs with and without a stalled output.")
    var rounds = 3

    @Option(help: "Hosts on air while the tick is measured.")
    var hosts = 1

    func run() async throws {
        CodecLibraries.quiet()
        EgressLibraries.initialise()
        try await printCost()

        var clips: [Clip] = []
        for number in 0..<max(hosts, 0) { clips.append(try await Clip.host(number, seconds: 20)) }
        var free: [TickFigures] = []
        var stalled: [TickFigures] = []
        for round in 0..<rounds {
            // Turn and turn about, so that neither always comes first.
            for withStall in round % 2 == 0 ? [false, true] : [true, false] {
                let run = TickRun(clips: clips, seconds: seconds, withStalledOutput: withStall)
                let figures = try await run.measure()
                if withStall { stalled.append(figures) } else { free.append(figures) }
            }
        }
        print("the mixer's tick, \(hosts) hosts, milliseconds, medians of \(rounds) runs of \(seconds) s")
        print("(woken: the program thread's latest wake-up; out: pictures out of the encoder against an even clock)\n")
        var table = Table("", "woken, latest", "out, median", "out, 99 %", "out, latest", "skipped or repeated")
        table.add(row("one output", free))
        table.add(row("one output and a stalled one", stalled))
        table.printOut()
        let added = Samples(zip(stalled, free).map { $0.late.percentile(99) - $1.late.percentile(99) })
        print("\na stalled output adds at the 99th percentile, median over the rounds: \(added.median.text(2)) ms")
        print("packets the stalled output dropped: \(stalled.map { "\($0.dropped)" }.joined(separator: ", "))")
    }

    private func printCost() async throws {
        let live = try await PushCost(seconds: seconds).live()
        let floor = try PushFloor.measure(kilobits: live.kilobits, seconds: seconds)
        let hurried = try await PushCost(seconds: seconds).hurried()
        print(
            "one output at \((live.kilobits / 1000).text(2)) Mb/s to nginx-rtmp, CPU milliseconds per second of media"
        )
        print("the work of sending (20 times as fast): \(verdict(hurried.milliseconds, atMost: 0.4, digits: 2))")
        print("live, with 30 wake-ups a second:        \(live.milliseconds.text(2))")
        print("a bare thread and socket, live:         \(floor.text(2))\n")
    }

    private func row(_ name: String, _ runs: [TickFigures]) -> [String] {
        func median(_ part: (TickFigures) -> Double) -> String { Samples(runs.map(part)).median.text(2) }
        return [
            name,
            median(\.latestWake),
            median { $0.late.median },
            median { $0.late.percentile(99) },
            median { $0.late.largest },
            median { Double($0.missed) },
        ]
    }
}
