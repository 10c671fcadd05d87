import Stage
import TestSupport

/// Makes the same program by the ffmpeg tool: `xstack`, `amix`, `alimiter`, one thread each.
struct FFmpegMix {
    /// The codec options of the program.
    enum Codecs {
        /// Every parameter as Footlight sets it, except for the preset's search effort.
        case asFootlight
        /// The usual command line: preset, tune and rates, and ffmpeg's AAC encoder with its defaults.
        case presetOnly
    }

    let clips: [Clip]
    let program: ProgramConfiguration
    let codecs: Codecs

    /// Runs once; returns processor seconds per second of program.
    func run() async throws -> Double {
        let before = ProcessorTime.endedChildren
        try await ChildProcess.run(arguments, within: .seconds(600))
        return (ProcessorTime.endedChildren - before) / Double(clips.map(\.seconds).max() ?? 1)
    }

    private var arguments: [String] {
        var arguments = ["ffmpeg", "-v", "error", "-nostdin", "-y"]
        arguments += ["-filter_threads", "1", "-filter_complex_threads", "1"]
        for clip in clips { arguments += ["-threads", "1", "-i", clip.path] }
        arguments += ["-filter_complex", filter, "-map", "[v]", "-map", "[a]", "-threads", "1"]
        arguments += Self.encoderOptions(program)
        arguments += ["-c:a", "aac", "-ar", "48000", "-ac", "2", "-b:a", "128k"]
        switch codecs {
        case .asFootlight:
            arguments += ["-profile:v", "main", "-nal-hrd", "cbr", "-forced-idr", "1", "-aac_coder", "fast"]
            arguments += [
                "-x264-params", "scenecut=0:open-gop=0:bframes=0:sliced-threads=0:keyint=60:min-keyint=1",
            ]
        case .presetOnly:
            arguments += ["-sc_threshold", "0", "-nal-hrd", "cbr"]
        }
        return arguments + ["-f", "flv", "/dev/null"]
    }

    /// Returns the options of the video encoder with the preset's search effort.
    static func encoderOptions(_ program: ProgramConfiguration) -> [String] {
        let rate = "\(program.videoBitrate)k"
        return [
            "-c:v", "libx264", "-preset", "veryfast", "-tune", "zerolatency", "-pix_fmt", "yuv420p",
            "-b:v", rate, "-maxrate", rate, "-bufsize", rate, "-g", "60", "-bf", "0",
        ]
    }

    private var filter: String {
        let tiles = GridLayout.rectangles(count: clips.count, width: program.width, height: program.height)
        let scaled = tiles.enumerated().map { "[\($0):v]scale=\($1.width):\($1.height):flags=bilinear[v\($0)];" }
        let videoInputs = tiles.indices.map { "[v\($0)]" }.joined()
        let positions = tiles.map { "\($0.x)_\($0.y)" }.joined(separator: "|")
        let audioInputs = tiles.indices.map { "[\($0):a]" }.joined()
        let size = "\(program.width):\(program.height)"
        let stack =
            tiles.count > 1
            ? "\(videoInputs)xstack=inputs=\(tiles.count):layout=\(positions):fill=black,pad=\(size):0:0[v];"
            : "\(videoInputs)null[v];"
        return scaled.joined() + stack
            + "\(audioInputs)amix=inputs=\(tiles.count):normalize=0,"
            + "alimiter=limit=0.891:attack=5:release=80:level=disabled[a]"
    }
}
