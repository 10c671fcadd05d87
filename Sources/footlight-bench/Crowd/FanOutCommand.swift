import ArgumentParser
import Egress
import RTMP
import TestSupport

/// One of the compared servers; each measurement starts a new process.
private struct Contender {
    let name: String
    let start: () async throws -> MediaServer
}

struct FanOutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fanout",
        abstract: "Measures cost, memory and startup of RTMP, HTTP-FLV and HLS viewers, beside nginx in the same run."
    )

    @Option(help: "Crowd sizes, separated by commas.")
    var viewers = "500,2000"

    @Option(help: "Protocols: rtmp, flv, hls, separated by commas.")
    var protocols = "rtmp,flv"

    @Option(help: "Requests of HLS viewers: parts, playlists, low latency, separated by commas.")
    var requests = HLSWorkload.allCases.map(\.rawValue).joined(separator: ",")

    @Option(help: "Kilobits per second of the stream, separated by commas.")
    var rates = "500"

    @Option(help: "The gateway's ticks in milliseconds, separated by commas; for RTMP and HTTP-FLV.")
    var tick = "66,100"

    @Option(help: "Whether the gateway writes to viewers' sockets directly: on, off; for RTMP and HTTP-FLV.")
    var directWrites = "on"

    @Option(help: "Event loops of the gateway; nginx has one worker.")
    var threads = 1

    @Option(help: "Seconds of each measurement.")
    var seconds = 8

    @Option(help: "Viewers that join one by one while the crowd plays.")
    var joins = 50

    @Option(help: "Rounds of the alternating servers.")
    var rounds = 1

    @Flag(help: "Add audio to the stream, at the same total bitrate.")
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
        guard ["on", "off"].contains(directWrites) else {
            throw ValidationError("\(directWrites) is neither on nor off")
        }
        let playbacks = names.compactMap { MediaServer.Playback(rawValue: $0) }
        for rate in try numbers(rates) {
            let clip = try await Clip.program(hasAudio: sound, seconds: 10, kilobits: rate)
            print("\n\(rate) kb/s, 30 fps\(sound ? " with audio" : ""), ", terminator: "")
            print("gateway on \(threads) event loop(s), direct writes \(directWrites)\n")
            if !playbacks.isEmpty { try await measureStreams(playbacks, clip) }
            guard names.contains("hls") else { continue }
            // Each part must end with a frame, by which the part's age is measured.
            let silent = try await Clip.program(hasAudio: false, seconds: 10, kilobits: rate)
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
            and machine: what a crowd adds beside the server and this program, mostly in the kernel
            memory with one: of the stream and one viewer after the same time; a crowd's is what it adds to that
            """
        )
    }

    /// Returns the memory that each server needs for the stream itself: the median over the rounds.
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
            var server = try await MediaServer.gateway(
                tick: variant.tick,
                threads: threads,
                writesDirectly: directWrites == "on",
                program: program
            )
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
