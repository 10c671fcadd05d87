import ArgumentParser
import Codecs

struct LadderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ladder",
        abstract: "Processor time of one 1080p30 program in four sizes, beside four encodes by ffmpeg."
    )

    @Option(help: "Seconds of media in a run.")
    var seconds = 10

    @Option(help: "How often the runs alternate.")
    var rounds = 3

    func run() async throws {
        CodecLibraries.quiet()
        let clip = try await Clip.composition(seconds: seconds)
        var ours = Samples()
        var plain = Samples()
        var theirs = Samples()
        var theirsEqual = Samples()
        for round in 0..<rounds {
            plain.add(try FootlightLadder(clip: clip, encoderOptions: "").run())
            theirsEqual.add(try await FFmpegLadder(clip: clip, isAsFootlight: true).run())
            ours.add(try FootlightLadder(clip: clip, encoderOptions: VideoEncoderConfiguration.usualOptions).run())
            theirs.add(try await FFmpegLadder(clip: clip, isAsFootlight: false).run())
            print("round \(round + 1) of \(rounds) done")
        }

        print("\n1080p30 to 1080p, 720p, 480p and 360p, CPU milliseconds per second, medians of \(rounds)\n")
        var table = Table("", "total")
        table.add(["Footlight's ladder, ffmpeg's codec options", (plain.median * 1000).text(1)])
        table.add(["four ffmpeg, the same codec options", (theirsEqual.median * 1000).text(1)])
        table.add(["Footlight's ladder, its defaults", (ours.median * 1000).text(1)])
        table.add(["four ffmpeg, veryfast zerolatency", (theirs.median * 1000).text(1)])
        table.printOut()
        let equal = Samples(zip(plain.values, theirsEqual.values).map { $0 / $1 })
        let defaults = Samples(zip(ours.values, theirs.values).map { $0 / $1 })
        print("\nFootlight / ffmpeg at equal codec options: \(verdict(equal.median, atMost: 0.8, digits: 3))")
        print("Footlight's defaults / ffmpeg:             \(verdict(defaults.median, atMost: 0.8, digits: 3))")
    }
}
