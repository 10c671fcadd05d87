import ArgumentParser
import Codecs
import Stage

struct MixerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mixer",
        abstract: "Measures the processor time of a program of several 720p30 hosts, beside ffmpeg's xstack and amix."
    )

    @Option(help: "Hosts on air, 1 to 12.")
    var hosts = 4

    @Option(help: "The program's size.")
    var size = ProgramSize.usual

    @Option(help: "Seconds of media in a run.")
    var seconds = 20

    @Option(help: "Rounds of alternating runs; 0 measures no time.")
    var rounds = 3

    @Flag(help: "Measure Footlight alone with its defaults, one line per round, to compare two builds.")
    var own = false

    @Flag(help: "Also compare the frames with a reference mix, by SSIM.")
    var likeness = false

    @Option(help: "x264 parameters instead of the defaults.")
    var coderOptions = VideoEncoderConfiguration.usualOptions

    func run() async throws {
        CodecLibraries.quiet()
        var clips: [Clip] = []
        for number in 0..<min(max(hosts, 1), 12) { clips.append(try await Clip.host(number, seconds: seconds)) }
        if own { return try measureOwn(clips) }
        if rounds > 0 { try await measure(clips) }
        if likeness { try await compare(clips) }
    }

    private func measureOwn(_ clips: [Clip]) throws {
        for _ in 0..<rounds {
            let run = try FootlightMix(clips: clips, program: size.program, encoderOptions: coderOptions).run()
            let parts: [(String, Double)] = [
                ("decode", run.decode), ("compose", run.compose), ("encode", run.encode), ("sound", run.audio),
                ("mixing", run.mixing), ("rest", run.rest), ("total", run.total),
            ]
            let text = parts.map { "\($0) \(($1 * 1000).text(1))" }.joined(separator: ", ")
            let (share, later) = (run.shareOutsideCodecs * 100, run.laterShareOutsideCodecs * 100)
            print("\(text) ms; neither decoding nor encoding \(share.text(2)) %, later \(later.text(2)) %")
        }
    }

    private func measure(_ clips: [Clip]) async throws {
        let program = size.program
        let audioEncoding = try AudioEncodingCost.secondsPerSecond(of: clips[0])
        var usual: [MixFigures] = []
        var plain: [MixFigures] = []
        // One host without overlays, whose frames are then the program's unchanged.
        var bare: [MixFigures] = []
        var baselines = Samples()
        var queuedBaselines = Samples()
        var ffmpegUsual = Samples()
        var ffmpegEqual = Samples()
        for round in 0..<rounds {
            plain.append(try FootlightMix(clips: clips, program: program, encoderOptions: "").run())
            ffmpegEqual.add(try await FFmpegMix(clips: clips, program: program, codecs: .asFootlight).run())
            usual.append(try FootlightMix(clips: clips, program: program, encoderOptions: coderOptions).run())
            ffmpegUsual.add(try await FFmpegMix(clips: clips, program: program, codecs: .presetOnly).run())
            if clips.count == 1 {
                let mix = FootlightMix(clips: clips, program: program, encoderOptions: coderOptions, hasTags: false)
                bare.append(try mix.run())
                var baseline = CodecBaseline(clip: clips[0], program: program)
                baselines.add(try baseline.run())
                baseline.queuedFrames = program.jitterTarget * 30 / 1000
                queuedBaselines.add(try baseline.run())
            }
            print("round \(round + 1) of \(rounds) done")
        }

        print("\n\(clips.count) hosts 720p30 to \(size)p30, CPU ms per second of program, medians of \(rounds)\n")
        var table = Table("", "decode", "compose", "encode", "sound", "rest", "total")
        table.add(row("Footlight, ffmpeg's codec options", plain))
        table.add(row("ffmpeg, the same codec options", ffmpegEqual))
        table.add(row("Footlight, its defaults", usual))
        table.add(row("ffmpeg, veryfast zerolatency", ffmpegUsual))
        if !baselines.isEmpty {
            table.add(row("Footlight, its defaults, no name over it", bare))
            table.add(row("decoding and encoding alone, its defaults", baselines))
            table.add(row("the same, with frames queued as long", queuedBaselines))
        }
        table.printOut()

        let goals = MixGoals(hosts: clips.count, size: size)
        let equal = ratios(plain, ffmpegEqual).median
        let defaults = ratios(usual, ffmpegUsual).median
        print("\nFootlight / ffmpeg at equal codec options: \(MixGoals.text(equal, goals.equal, digits: 3))")
        print("Footlight's defaults / ffmpeg:             \(MixGoals.text(defaults, goals.defaults, digits: 3))")
        if !baselines.isEmpty {
            for (name, runs) in [("defaults", usual), ("defaults, no name over it", bare)] {
                print(
                    "Footlight's \(name) / its codecs alone: \(ratios(runs, baselines).median.text(3)); "
                        + "with frames queued as long: \(ratios(runs, queuedBaselines).median.text(3))"
                )
            }
        }
        for (name, runs) in [("equal options", plain), ("defaults", usual)] {
            let other = Samples(runs.map(\.shareOutsideCodecs)).median * 100
            let later = Samples(runs.map(\.laterShareOutsideCodecs)).median * 100
            let verdict = MixGoals.text(other, goals.outsideCodecs, digits: 2)
            print("neither decoding nor encoding, \(name): \(verdict) %; after startup \(later.text(2)) %")
        }
        func audio(_ part: (MixFigures) -> Double) -> String { (Samples(usual.map(part)).median * 1000).text(1) }
        print(
            "of audio: decoding \(audio(\.audioDecoding)) ms, mixing \(audio(\.mixing)) ms, "
                + "encoding \(audio(\.audioEncoding)) ms (\((audioEncoding * 1000).text(1)) ms by itself)"
        )
    }

    private func compare(_ clips: [Clip]) async throws {
        let likeness = SSIMComparison(clips: clips, program: size.program)
        let preset = try await likeness.ofPreset()
        let plain = try await likeness.ofFootlight(encoderOptions: "")
        let usual = try await likeness.ofFootlight(encoderOptions: coderOptions)
        print("\nSSIM of the program against its hosts fully decoded, scaled by Lanczos and not encoded\n")
        var table = Table("", "SSIM")
        table.add(["the reference, encoded by ffmpeg, veryfast zerolatency", preset.text(5)])
        table.add(["Footlight, ffmpeg's codec options", plain.text(5)])
        table.add(["Footlight, its defaults", usual.text(5)])
        table.printOut()
        print("\nlost by all shortcuts together: \(verdict(preset - usual, atMost: 0.002, digits: 5))")
    }

    private func ratios(_ ours: [MixFigures], _ theirs: Samples) -> Samples {
        Samples(zip(ours, theirs.values).map { $0.total / $1 })
    }

    private func row(_ name: String, _ runs: [MixFigures]) -> [String] {
        func median(_ part: (MixFigures) -> Double) -> String { (Samples(runs.map(part)).median * 1000).text(1) }
        return [
            name, median(\.decode), median(\.compose), median(\.encode), median(\.audio), median(\.rest),
            median(\.total),
        ]
    }

    private func row(_ name: String, _ totals: Samples) -> [String] {
        [name, "", "", "", "", "", (totals.median * 1000).text(1)]
    }
}

/// A program's size as written on the command line, such as `1280x720`.
struct ProgramSize: ExpressibleByArgument, CustomStringConvertible {
    let width: Int
    let height: Int

    /// The default size.
    static let usual = ProgramSize(width: 1280, height: 720)

    private init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
    }

    init?(argument: String) {
        let sides = argument.split(separator: "x").compactMap { Int($0) }
        guard sides.count == 2, (160...1920).contains(sides[0]), (90...1920).contains(sides[1]),
            sides.allSatisfy({ $0 % 2 == 0 })
        else { return nil }
        (width, height) = (sides[0], sides[1])
    }

    var description: String { "\(width)x\(height)" }

    /// A program of this size, with a usual bitrate for a platform.
    var program: ProgramConfiguration {
        ProgramConfiguration(width: width, height: height, videoBitrate: width * height > 1_000_000 ? 5000 : 3000)
    }
}
