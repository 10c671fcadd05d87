import ArgumentParser
import Codecs
import FootlightTesting
import Glibc
import Media
import Mixer
import Stage

struct TimetableCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "timetable",
        abstract: "Hours of a whole program by a virtual clock, as fast as it goes: nothing may slip, ever.",
        discussion: """
            Several hosts with clocks of their own come and go, are muted, change places, stall and set their clocks. \
            All of it is decoded, composed, mixed and coded, and what comes out is decoded again. Fails unless times \
            rise without a gap, every group of pictures has its length, every host's flash and beep stay within 20 ms of \
            each other, pictures and samples are as many as the time holds, and memory stays as it was.
            """
    )

    @Option(help: "Hours of the program's time.")
    var hours = 2.0

    @Option(help: "Hosts, 3 to 5.")
    var hosts = 4

    @Option(help: "Pictures a second.")
    var rate = 30

    /// How much more memory is still flat, in mebibytes.
    private static let tolerance = 8.0

    func run() throws {
        CodecLibraries.quiet()
        let configuration = ProgramConfiguration(
            width: 320,
            height: 180,
            frameRate: FrameRate(rate),
            videoBitrate: 200,
            audioBitrate: 96,
            preset: "ultrafast"
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
            let (distance, delays) = check.takeWorst()
            let places = delays.map { "\($0.lowerBound.text(1)) to \($0.upperBound.text(1))" } ?? "-"
            let wall = MonotonicTime.now().seconds(since: began).text(1)
            print(minute, distance.text(1), places, (memory.last ?? 0).text(1), wall, separator: " | ")
            if !check.faults.isEmpty { throw failure(check.faults) }
        }
        let faults = check.faults + count(check, show.statistics, end: end, configuration) + grown(memory)
        guard faults.isEmpty else { throw failure(faults) }
        let wall = MonotonicTime.now().seconds(since: began)
        print(
            "\n\(hours.text(2)) hours in \(wall.text(0)) s: nothing slipped, \(check.counts.flashes) flashes looked at"
        )
    }

    private func failure(_ faults: [String]) -> ToolFailure {
        ToolFailure("the program is not as it has to be", log: faults.joined(separator: "\n"))
    }

    /// As many pictures and samples as the time holds, but for what the coders have not given out yet.
    private func count(
        _ check: ProgramCheck,
        _ statistics: MixerStatistics,
        end: Double,
        _ configuration: ProgramConfiguration
    ) -> [String] {
        var faults: [String] = []
        let wanted = Int64(end / 1000 * Double(rate)) + 1
        let (pictures, sounds, flashes) = check.counts
        print("pictures \(pictures) of \(wanted), samples \(sounds * 1024) of \(Int64(end * 48))")
        if statistics.pictures != wanted { faults.append("\(statistics.pictures) pictures were made of \(wanted)") }
        let left = (wanted - pictures, Int64(end * 48) - sounds * 1024)
        if !(0...3).contains(left.0) || !(-2048...6144).contains(left.1) {
            faults.append("\(left.0) pictures and \(left.1) samples are missing at the end")
        }
        if statistics.skippedPictures + statistics.lateTicks + statistics.jumps + statistics.encodeErrors > 0 {
            faults.append("pictures were left out: \(statistics)")
        }
        let least = Int(end / 1000 * 1.5)
        if flashes < least { faults.append("only \(flashes) flashes could be looked at, of \(least)") }
        return faults
    }

    /// Memory after the first minutes, and at the end.
    private func grown(_ memory: [Double]) -> [String] {
        guard memory.count >= 8 else { return [] }
        let early = memory[(memory.count / 8)..<(memory.count / 4)].max() ?? 0
        let late = memory[(memory.count * 3 / 4)...].max() ?? 0
        print("memory: \(early.text(1)) MiB in the second eighth, \(late.text(1)) in the last quarter")
        return late > early + Self.tolerance ? ["memory grew by \((late - early).text(1)) MiB"] : []
    }
}
