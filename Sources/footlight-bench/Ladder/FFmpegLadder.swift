import FootlightTesting
import Stage

/// The same sizes by the ffmpeg tool, each by itself: decoded, scaled and coded with one thread.
struct FFmpegLadder {
    let clip: Clip
    /// Every parameter as Footlight gives it to the codecs; otherwise preset, tune and rates alone.
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
