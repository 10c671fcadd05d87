import ArgumentParser
import Codecs
import Egress
import TestSupport

struct PushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Measures the processor time of one output, and the effect of a stalled output on the mixer's tick."
    )

    @Option(help: "Seconds of each measurement.")
    var seconds = 10

    @Option(help: "Rounds of the mixer with and without a stalled output.")
    var rounds = 6

    @Option(help: "Further gathering times in milliseconds, separated by commas.")
    var gathering = "200,0"

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
            // Alternate, so that neither always comes first.
            for withStall in round % 2 == 0 ? [false, true] : [true, false] {
                let run = TickRun(clips: clips, seconds: seconds, withStalledOutput: withStall)
                let figures = try await run.measure()
                if withStall { stalled.append(figures) } else { free.append(figures) }
            }
        }
        print("the mixer's tick, \(hosts) hosts, milliseconds, medians of \(rounds) runs of \(seconds) s")
        print("(woken: the program thread's latest wake-up; out: frames out of the encoder against an even clock)\n")
        var table = Table("", "woken, latest", "out, median", "out, 99 %", "out, latest", "skipped or repeated")
        table.add(row("one output", free))
        table.add(row("one output and a stalled one", stalled))
        table.printOut()
        print("\nrun by run, median and 99 %:")
        for (name, runs) in [("one output", free), ("and a stalled one", stalled)] {
            let figures = runs.map { "\($0.late.median.text(2)) \($0.late.percentile(99).text(2))" }
            print("\(name): \(figures.joined(separator: " | "))")
        }
        for percent in [50.0, 99] {
            let added = Samples(
                zip(stalled, free).map { $0.late.percentile(percent) - $1.late.percentile(percent) }.sorted()
            )
            let text = "median \(added.median.text(2)), from \(added.percentile(0).text(2)) to \(added.largest.text(2))"
            print("a stalled output adds at the \(percent.text(0))th percentile, over the rounds: \(text) ms")
        }
        print("packets the stalled output dropped: \(stalled.map { "\($0.dropped)" }.joined(separator: ", "))")
    }

    /// Measures the default output, and others with a longer, shorter or no gathering time; each beside a bare thread
    /// and socket with as many writes.
    private func printCost() async throws {
        var table = Table("sent", "CPU ms / s", "bare thread and socket")
        var usual = 0.0
        var megabits = 0.0
        let others = gathering.split(separator: ",").compactMap { Double($0) }.map { $0 / 1000 }
        for gathering in [PushConfiguration.output.gathering] + others {
            var configuration = PushConfiguration.output
            configuration.gathering = gathering
            configuration.gatheredBytes = max(configuration.gatheredBytes, Int(gathering * 500_000))
            let cost = try await PushCost(seconds: seconds, configuration: configuration).live()
            let interval = gathering == 0 ? 33 : Int(gathering * 1000)
            let baseline = try PushBaseline.measure(kilobits: cost.kilobits, interval: interval, seconds: seconds)
            let isUsual = gathering == PushConfiguration.output.gathering
            if isUsual { (usual, megabits) = (cost.milliseconds, cost.kilobits / 1000) }
            let name = gathering == 0 ? "each frame at once" : "gathered for \((gathering * 1000).text(0)) ms"
            table.add([name + (isUsual ? " (an output's default)" : ""), cost.milliseconds.text(2), baseline.text(2)])
        }
        print("one output at \(megabits.text(2)) Mb/s to nginx-rtmp\n")
        table.printOut()
        print("\none output: \(verdict(usual, atMost: 0.4, digits: 2)) CPU ms per second")
        let accelerated = try await PushCost(seconds: seconds, configuration: PushConfiguration()).accelerated()
        print("the work of sending alone, each frame, 20 times as fast: \(accelerated.milliseconds.text(2))\n")
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
