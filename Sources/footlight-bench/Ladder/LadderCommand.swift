import ArgumentParser
import Codecs
import Media
import Mixer
import Stage
import Synchronization
import TestSupport

struct LadderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ladder",
        abstract: "Measures the processor time of a 1080p30 program with an ABR ladder, beside four encodes by ffmpeg."
    )

    @Option(help: "Seconds of media in a run.")
    var seconds = 10

    @Option(help: "Rounds of alternating runs.")
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

/// One 1080p host as a program with three further renditions, on a virtual clock, as fast as possible on one core.
struct FootlightLadder {
    let clip: Clip
    /// Further x264 parameters; empty for the preset's own.
    let encoderOptions: String

    static let program = ProgramConfiguration(
        width: 1920,
        height: 1080,
        videoBitrate: 5000,
        jitterTarget: 100,
        ladder: RenditionLadder(renditions: [Rendition(.hd), Rendition(.standard), Rendition(.low)])
    )
    private static let transit: Int64 = 30

    /// Runs once; returns processor seconds per second of program.
    func run() throws -> Double {
        let before = ProcessorTime.own
        let sizes = Mutex<[String: Int]>([:])
        let renderer = try ProgramRenderer(
            configuration: Self.program,
            encoderOptions: encoderOptions,
            sink: { packet in sizes.withLock { $0["", default: 0] += packet.isVideo ? 1 : 0 } }
        )
        try renderer.encodeRenditions { name, packet in
            sizes.withLock { $0[name, default: 0] += packet.isVideo ? 1 : 0 }
        }
        renderer.apply(.grid(of: ["host"], on: Self.program))
        let input = renderer.addHost("host")
        for packet in try clip.packets {
            let moment = MonotonicTime(nanoseconds: 0).advanced(milliseconds: packet.timestamp + Self.transit)
            renderer.advance(to: moment)
            input.receive(packet, arrival: moment)
        }
        renderer.advance(to: MonotonicTime(nanoseconds: 0).advanced(milliseconds: Int64(clip.seconds) * 1000))
        let used = ProcessorTime.own - before
        // A run with missing frames would be invalid.
        let counts = sizes.withLock { $0 }
        guard counts.count == 4, counts.values.allSatisfy({ $0 >= clip.seconds * 30 - 3 }) else {
            throw ToolFailure("the ladder is incomplete: \(counts)")
        }
        return used / Double(clip.seconds)
    }
}

/// The same renditions by one ffmpeg process each: decoded, scaled and encoded with one thread.
struct FFmpegLadder {
    let clip: Clip
    /// Whether every codec parameter is the one that Footlight uses; otherwise preset, tune and rates alone.
    let isAsFootlight: Bool

    /// Runs once; returns processor seconds per second of program.
    func run() async throws -> Double {
        let before = ProcessorTime.endedChildren
        for quality in ProgramQuality.allCases {
            try await ChildProcess.run(arguments(quality), within: .seconds(600))
        }
        return (ProcessorTime.endedChildren - before) / Double(clip.seconds)
    }

    private func arguments(_ quality: ProgramQuality) -> [String] {
        let rate = "\(quality.videoBitrate)k"
        var arguments = ["ffmpeg", "-v", "error", "-nostdin", "-y", "-filter_threads", "1", "-threads", "1"]
        arguments += ["-i", clip.path, "-vf", "scale=\(quality.width):\(quality.height):flags=bilinear"]
        arguments += ["-threads", "1", "-c:v", "libx264", "-preset", "veryfast", "-tune", "zerolatency"]
        arguments += ["-pix_fmt", "yuv420p", "-b:v", rate, "-maxrate", rate, "-bufsize", rate, "-g", "60", "-bf", "0"]
        arguments += ["-c:a", "aac", "-ar", "48000", "-ac", "2", "-b:a", "128k"]
        if isAsFootlight {
            arguments += ["-profile:v", "main", "-nal-hrd", "cbr", "-forced-idr", "1", "-aac_coder", "fast"]
            arguments += [
                "-x264-params", "scenecut=0:open-gop=0:bframes=0:sliced-threads=0:keyint=60:min-keyint=1",
            ]
        } else {
            arguments += ["-sc_threshold", "0", "-nal-hrd", "cbr"]
        }
        return arguments + ["-f", "flv", "/dev/null"]
    }
}
