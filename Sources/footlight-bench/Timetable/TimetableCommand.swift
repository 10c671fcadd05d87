import ArgumentParser
import Codecs
import Glibc
import Media
import Mixer
import Stage
import TestSupport

struct TimetableCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "timetable",
        abstract: "Checks hours of a program on a virtual clock, as fast as possible: A/V sync must never drift.",
        discussion: """
            Several hosts with their own clocks join and leave, are muted, move, stall and step their clocks. \
            All media are decoded, composed, mixed and encoded, and the program is decoded again. Fails unless \
            timestamps increase without a gap, every GOP has its length, every host's flash and beep stay within 20 ms \
            of each other, the numbers of frames and samples match the duration, and memory stays as it was.
            """
    )

    @Option(help: "Hours of the program's time.")
    var hours = 2.0

    @Option(help: "Hosts, 3 to 5.")
    var hosts = 4

    @Option(help: "Frames per second.")
    var rate = 30

    /// The accepted memory growth in mebibytes.
    private static let tolerance = 8.0

    func run() throws {
        CodecLibraries.quiet()
        let configuration = ProgramConfiguration(
            width: 320,
            height: 180,
            frameRate: FrameRate(rate),
            videoBitrate: 200,
            audioBitrate: 96,
            preset: .ultrafast
        )
        let people = min(max(hosts, 3), 5)
        let check = try ProgramCheck(configuration: configuration, hosts: people)
        let show = try TimetableShow(hosts: people, configuration: configuration, check: check)
        let began = MonotonicTime.now()
        var memory: [Double] = []
        print("minute | flash to beep, ms | out of place, ms | memory, MiB | wall, s")
        let end = hours * 3_600_000
        try show.run(to: end) { minute in
            memory.append(Double(RunningProcess.residentBytes(of: getpid()) ?? 0) / 1_048_576)
            guard minute % 10 == 0 || hours < 0.5 else { return }
            let (distance, delays) = check.drainWorst()
            let places = delays.map { "\($0.lowerBound.text(1)) to \($0.upperBound.text(1))" } ?? "-"
            let wall = MonotonicTime.now().seconds(since: began).text(1)
            print(minute, distance.text(1), places, (memory.last ?? 0).text(1), wall, separator: " | ")
            if !check.faults.isEmpty { throw failure(check.faults) }
        }
        let faults = check.faults + count(check, show.statistics, end: end, configuration) + grown(memory)
        guard faults.isEmpty else { throw failure(faults) }
        let wall = MonotonicTime.now().seconds(since: began)
        print(
            "\n\(hours.text(2)) hours in \(wall.text(0)) s: no drift, \(check.counts.flashes) flashes compared"
        )
    }

    private func failure(_ faults: [String]) -> ToolFailure {
        ToolFailure("the program failed its checks", log: faults.joined(separator: "\n"))
    }

    /// Checks that there are as many frames and samples as the time holds, except for the encoders' delay.
    private func count(
        _ check: ProgramCheck,
        _ statistics: MixerStatistics,
        end: Double,
        _ configuration: ProgramConfiguration
    ) -> [String] {
        var faults: [String] = []
        let expectedCount = Int64(end / 1000 * Double(rate)) + 1
        let (frames, audioFrames, flashes) = check.counts
        print("frames \(frames) of \(expectedCount), samples \(audioFrames * 1024) of \(Int64(end * 48))")
        if statistics.frames != expectedCount {
            faults.append("\(statistics.frames) frames were rendered of \(expectedCount)")
        }
        let left = (expectedCount - frames, Int64(end * 48) - audioFrames * 1024)
        if !(0...3).contains(left.0) || !(-2048...6144).contains(left.1) {
            faults.append("\(left.0) frames and \(left.1) samples are missing at the end")
        }
        if statistics.skippedFrames + statistics.lateTicks + statistics.jumps + statistics.encodeErrors > 0 {
            faults.append("frames were skipped: \(statistics)")
        }
        let least = Int(end / 1000 * 1.5)
        if flashes < least { faults.append("only \(flashes) flashes could be compared, of \(least)") }
        return faults
    }

    /// Checks the memory growth from the second eighth to the last quarter.
    private func grown(_ memory: [Double]) -> [String] {
        guard memory.count >= 8 else { return [] }
        let early = memory[(memory.count / 8)..<(memory.count / 4)].max() ?? 0
        let late = memory[(memory.count * 3 / 4)...].max() ?? 0
        print("memory: \(early.text(1)) MiB in the second eighth, \(late.text(1)) in the last quarter")
        return late > early + Self.tolerance ? ["memory grew by \((late - early).text(1)) MiB"] : []
    }
}
