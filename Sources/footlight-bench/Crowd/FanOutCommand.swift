import ArgumentParser
import Egress
import FootlightTesting
import RTMP

/// One of the servers side by side; each measurement starts it anew.
private struct Contender {
    let name: String
    let start: () async throws -> MediaServer
}

struct FanOutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fanout",
        abstract: "Cost, memory and first picture of RTMP, HTTP-FLV and HLS viewers, beside nginx in the same run."
    )

    @Option(help: "Sizes of the crowd, parted by commas.")
    var viewers = "500,2000"

    @Option(help: "How they watch: rtmp, flv, hls, parted by commas.")
    var protocols = "rtmp,flv"

    @Option(help: "What viewers by HLS ask for: parts, playlists, low latency, parted by commas.")
    var requests = HLSWorkload.allCases.map(\.rawValue).joined(separator: ",")

    @Option(help: "Kilobits a second of the stream, parted by commas.")
    var rates = "500"

    @Option(help: "The gateway's ticks in milliseconds, parted by commas; of meaning to RTMP and HTTP-FLV.")
    var tick = "66,100"

    @Option(help: "Event loops of the gateway; nginx has one worker.")
    var threads = 1

    @Option(help: "Seconds of each measurement.")
    var seconds = 8

    @Option(help: "Viewers who come one by one while the crowd watches.")
    var joins = 50

    @Option(help: "How often the servers alternate.")
    var rounds = 1

    @Flag(help: "The stream has sound as well, at the same rate.")
    var sound = false

    @OptionGroup var program: GatewayProgram

    func run() async throws {
        EgressLibraries.initialise()
        DescriptorLimit.raise()
        let names = protocols.split(separator: ",").map(String.init)
        guard Set(names).isSubset(of: ["rtmp", "flv", "hls"]), !names.isEmpty else {
            throw ValidationError("\(protocols) are not rtmp, flv or hls")
        }
        let workloads = requests.split(separator: ",").compactMap { HLSWorkload(rawValue: String($0)) }
        guard workloads.count == requests.split(separator: ",").count else {
            throw ValidationError("\(requests) are not parts, playlists or low latency")
        }
        let playbacks = names.compactMap { MediaServer.Playback(rawValue: $0) }
        for rate in try numbers(rates) {
            let clip = try await Clip.program(hasSound: sound, seconds: 10, kilobits: rate)
            print("\n\(rate) kb/s, 30 pictures a second\(sound ? " with sound" : ""), ", terminator: "")
            print("gateway on \(threads) event loop(s)\n")
            if !playbacks.isEmpty { try await measureStreams(playbacks, clip) }
            guard names.contains("hls") else { continue }
            // Parts end with a picture, by which their age is told.
            let silent = try await Clip.program(hasSound: false, seconds: 10, kilobits: rate)
            try await HLSComparison(
                clip: silent,
                workloads: workloads,
                sizes: try numbers(viewers),
                threads: threads,
                seconds: seconds,
                joins: joins,
                rounds: rounds,
                program: program
            ).run()
        }
    }

    private func measureStreams(_ playbacks: [MediaServer.Playback], _ clip: Clip) async throws {
        let variants = playbacks.flatMap { playback in
            ((try? numbers(tick)) ?? []).map { (playback: playback, tick: $0) }
        }
        var table = Table(
            "server",
            "viewers",
            "CPU ms / viewer s",
            "of nginx",
            "and machine",
            "of nginx with it",
            "idle ms/s",
            "coming, ms / viewer",
            "MiB with one",
            "KiB / viewer",
            "first key, median",
            "first key, 99 %",
            "delay, median",
            "delay, 99 %",
            "delivered"
        )
        let servers = [Contender(name: "nginx-rtmp", start: { try await .nginx() })] + variants.map(contender)
        let alone = try await measureAlone(servers, clip)
        for size in try numbers(viewers) {
            let run = FanOutRun(clip: clip, viewers: size, seconds: seconds, joins: joins)
            var figures = servers.map { _ in [FanOutFigures]() }
            for _ in 0..<rounds {
                for (index, server) in servers.enumerated() {
                    figures[index].append(try await run.measure(try await server.start(), alone: alone[index]))
                }
            }
            for (server, runs) in zip(servers, figures) { table.add(row(server.name, size, runs, figures[0])) }
        }
        table.printOut()
        print("\ntimes in milliseconds; delay is publisher to viewer, the publisher's own push included")
        print(
            """
            and machine: what a crowd adds beside the server and this program, such as what the kernel sends later for nobody
            memory with one: of the stream and one viewer after the same time; a crowd's is what it adds to that
            """
        )
    }

    /// What each server takes for the stream itself: the median of as many runs as there are rounds.
    private func measureAlone(_ servers: [Contender], _ clip: Clip) async throws -> [Int] {
        let run = FanOutRun(clip: clip, viewers: 1, seconds: seconds, joins: 0)
        var bytes = servers.map { _ in Samples() }
        for _ in 0..<rounds {
            for (index, server) in servers.enumerated() {
                bytes[index].add(Double(try await run.measureAlone(try await server.start())))
            }
        }
        return bytes.map { Int($0.median) }
    }

    private func contender(_ variant: (playback: MediaServer.Playback, tick: Int)) -> Contender {
        Contender(name: "Footlight \(variant.playback.rawValue), \(variant.tick) ms tick") {
            var server = try await MediaServer.gateway(tick: variant.tick, threads: threads, program: program)
            server.playback = variant.playback
            return server
        }
    }

    private func row(_ name: String, _ viewers: Int, _ runs: [FanOutFigures], _ nginx: [FanOutFigures]) -> [String] {
        func median(_ digits: Int, _ part: (FanOutFigures) -> Double) -> String {
            Samples(runs.map(part)).median.text(digits)
        }
        func ratio(_ part: (FanOutFigures) -> Double) -> String {
            Samples(zip(runs, nginx).map { part($0) / part($1) }).median.text(2)
        }
        return [
            name, "\(viewers)", median(3, \.processor), ratio(\.processor), median(3, \.rest), ratio(\.sending),
            median(1, \.idle), median(2, \.coming),
            median(1, \.alone), median(1, \.memory),
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
}
