import ArgumentParser
import Codecs

struct MixerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mixer",
        abstract: "Processor time of a program made of several 720p30 hosts, beside ffmpeg's xstack and amix."
    )

    @Option(help: "Hosts on air, 1 to 12.")
    var hosts = 4

    @Option(help: "Seconds of media in a run.")
    var seconds = 20

    @Option(help: "How often the runs alternate.")
    var rounds = 3

    func run() async throws {
        CodecLibraries.quiet()
        var clips: [Clip] = []
        for number in 0..<min(max(hosts, 1), 12) { clips.append(try await Clip.host(number, seconds: seconds)) }

        let soundCoding = try SoundCoding.secondsPerSecond(of: clips[0])
        var usual: [MixFigures] = []
        var plain: [MixFigures] = []
        var ffmpegUsual = Samples()
        var ffmpegEqual = Samples()
        for round in 0..<rounds {
            plain.append(try FootlightMix(clips: clips, encoderOptions: "").run())
            ffmpegEqual.add(try await FFmpegMix(clips: clips, codecs: .asFootlight).run())
            usual.append(try FootlightMix(clips: clips, encoderOptions: VideoEncoderConfiguration.usualOptions).run())
            ffmpegUsual.add(try await FFmpegMix(clips: clips, codecs: .presetOnly).run())
            print("round \(round + 1) of \(rounds) done")
        }

        print("\n\(hosts) hosts 720p30 to 720p30, CPU milliseconds per second of program, medians of \(rounds)\n")
        var table = Table("", "decode", "compose", "encode", "sound", "rest", "total")
        table.add(row("Footlight, ffmpeg's codec options", plain))
        table.add(row("ffmpeg, the same codec options", ffmpegEqual))
        table.add(row("Footlight, its defaults", usual))
        table.add(row("ffmpeg, veryfast zerolatency", ffmpegUsual))
        table.printOut()

        let equal = ratios(plain, ffmpegEqual)
        let defaults = ratios(usual, ffmpegUsual)
        print("\nFootlight / ffmpeg at equal codec options: \(verdict(equal.median, atMost: 0.88, digits: 3))")
        print("Footlight's defaults / ffmpeg:             \(verdict(defaults.median, atMost: 0.74, digits: 3))")
        for (name, runs) in [("equal options", plain), ("defaults", usual)] {
            let other = Samples(runs.map(\.shareOutsideCodecs)).median
            print("neither decoding nor encoding, \(name): \(verdict(other * 100, atMost: 6, digits: 2)) %")
        }
        func sound(_ part: (MixFigures) -> Double) -> String { (Samples(usual.map(part)).median * 1000).text(1) }
        print(
            "of sound: decoding \(sound(\.soundDecoding)) ms, mixing \(sound(\.mixing)) ms, "
                + "coding \(sound(\.soundCoding)) ms (\((soundCoding * 1000).text(1)) ms by itself)"
        )
    }

    private func ratios(_ ours: [MixFigures], _ theirs: Samples) -> Samples {
        Samples(zip(ours, theirs.values).map { $0.total / $1 })
    }

    private func row(_ name: String, _ runs: [MixFigures]) -> [String] {
        func median(_ part: (MixFigures) -> Double) -> String { (Samples(runs.map(part)).median * 1000).text(1) }
        return [
            name, median(\.decode), median(\.compose), median(\.encode), median(\.sound), median(\.rest),
            median(\.total),
        ]
    }

    private func row(_ name: String, _ totals: Samples) -> [String] {
        [name, "", "", "", "", "", (totals.median * 1000).text(1)]
    }
}
