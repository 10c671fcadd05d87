import ArgumentParser
import Egress
import FootlightTesting
import Glibc

struct FanOutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fanout",
        abstract: "Cost, memory and first picture of RTMP viewers, beside nginx-rtmp in the same run."
    )

    @Option(help: "Sizes of the crowd, parted by commas.")
    var viewers = "500,2000"

    @Option(help: "The gateway's ticks in milliseconds, parted by commas.")
    var tick = "33,100"

    @Option(help: "Event loops of the gateway; nginx has one worker.")
    var threads = 1

    @Option(help: "Seconds of each measurement.")
    var seconds = 8

    @Option(help: "Viewers who come one by one while the crowd watches.")
    var joins = 50

    @Option(help: "How often the servers alternate.")
    var rounds = 1

    @Flag(help: "The stream has sound as well, at the same 500 kb/s.")
    var sound = false

    @Option(help: "The footlight program; the one beside this program when left out.")
    var binary: String?

    func run() async throws {
        EgressLibraries.initialise()
        raiseDescriptorLimit()
        let clip = try await Clip.program(hasSound: sound, seconds: 10)
        let ticks = try numbers(tick)
        print("500 kb/s, 30 pictures a second\(sound ? " with sound" : ""), gateway on \(threads) event loop(s)\n")
        var table = Table(
            "server",
            "viewers",
            "CPU ms / viewer s",
            "and kernel",
            "of nginx",
            "idle ms/s",
            "KiB / viewer",
            "first key, median",
            "first key, 99 %",
            "delay, median",
            "delay, 99 %",
            "delivered"
        )
        for size in try numbers(viewers) {
            let run = FanOutRun(clip: clip, viewers: size, seconds: seconds, joins: joins)
            var nginx: [FanOutFigures] = []
            var ours = ticks.map { _ in [FanOutFigures]() }
            for _ in 0..<rounds {
                nginx.append(try await run.measure(try await .nginx()))
                for (index, tick) in ticks.enumerated() {
                    let server = try await MediaServer.gateway(tick: tick, threads: threads, binary: binary)
                    ours[index].append(try await run.measure(server))
                }
            }
            table.add(row("nginx-rtmp", size, nginx, nginx))
            for (index, tick) in ticks.enumerated() {
                table.add(row("Footlight, \(tick) ms tick", size, ours[index], nginx))
            }
        }
        table.printOut()
        print("\ntimes in milliseconds; delay is publisher to viewer, the publisher's own push included")
    }

    private func row(_ name: String, _ viewers: Int, _ runs: [FanOutFigures], _ nginx: [FanOutFigures]) -> [String] {
        func median(_ digits: Int, _ part: (FanOutFigures) -> Double) -> String {
            Samples(runs.map(part)).median.text(digits)
        }
        let ratios = Samples(zip(runs, nginx).map { $0.sending / $1.sending })
        return [
            name, "\(viewers)", median(3, \.processor), median(3, \.kernel), ratios.median.text(2), median(1, \.idle),
            median(1, \.memory),
            median(1) { $0.firstKey.median }, median(1) { $0.firstKey.percentile(99) },
            median(1) { $0.delay.median }, median(1) { $0.delay.percentile(99) },
            median(1) { $0.delivered * 100 } + " %",
        ]
    }

    private func numbers(_ list: String) throws -> [Int] {
        let numbers = list.split(separator: ",").compactMap { Int($0) }
        guard !numbers.isEmpty, numbers.allSatisfy({ $0 > 0 }) else {
            throw ValidationError("\(list) is no list of numbers")
        }
        return numbers
    }

    /// A crowd needs a descriptor a viewer, here and in the servers, which inherit the limit.
    private func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
