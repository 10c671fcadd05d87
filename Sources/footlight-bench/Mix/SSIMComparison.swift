import Codecs
import Foundation
import Media
import NIOCore
import RTMP
import Stage
import Synchronization
import TestSupport

/// Measures the similarity of a program's frames to a reference mix of its hosts, as SSIM.
///
/// For the reference every host is fully decoded, cropped as in Footlight, scaled by a Lanczos filter, and not encoded.
/// The start of the program, in which hosts fade in and the encoder's rate settles, is skipped.
struct SSIMComparison {
    let clips: [Clip]
    let program: ProgramConfiguration

    /// Frames skipped at the start.
    private static let begin = 60
    /// Possible delays of a program relative to its hosts in frames; the best match is used.
    private static let lags = 6...14

    /// Returns the SSIM of Footlight's program.
    func ofFootlight(encoderOptions: String) async throws -> Double {
        let folder = try TemporaryFolder("likeness")
        let file = Mutex(FLVTagWriter.header(hasAudio: false, hasVideo: true))
        _ = try FootlightMix(clips: clips, program: program, encoderOptions: encoderOptions, hasTags: false) { packet in
            guard packet.isVideo else { return }
            file.withLock { FLVTagWriter.write(packet, timestamp: packet.timestamp, to: &$0) }
        }.run()
        let path = folder.file("program.flv")
        try Data(file.withLock { $0 }.readableBytesView).write(to: URL(fileURLWithPath: path))
        var best = (lag: 0, value: -1.0)
        for lag in Self.lags {
            let value = try await compare(path, lag: lag, end: Self.begin + 10)
            if value > best.value { best = (lag, value) }
        }
        return try await compare(path, lag: best.lag, end: end)
    }

    /// Returns the SSIM of the reference itself, encoded by ffmpeg with the preset's search effort.
    func ofPreset() async throws -> Double {
        let folder = try TemporaryFolder("likeness")
        let path = folder.file("program.flv")
        var arguments = tool + inputs + ["-filter_complex", reference(from: 0) + "null[v]", "-map", "[v]"]
        arguments += FFmpegMix.encoderOptions(program) + ["-sc_threshold", "0", "-nal-hrd", "cbr", "-f", "flv", path]
        try await ChildProcess.run(arguments, within: .seconds(300))
        return try await compare(path, lag: 0, end: end)
    }

    private var tool: [String] { ["ffmpeg", "-v", "error", "-nostdin", "-y"] }
    private var inputs: [String] { clips.flatMap { ["-i", $0.path] } }
    /// The end of the comparison in frames; a host's last frames are decoded after the program's end.
    private var end: Int { (clips.map(\.seconds).min() ?? 0) * 30 - 15 }

    private func compare(_ path: String, lag: Int, end: Int) async throws -> Double {
        let trim = "[0:v]trim=start_frame=\(Self.begin + lag):end_frame=\(end + lag),settb=1/30,setpts=N[made];"
        let filter =
            reference(from: 1) + "trim=start_frame=\(Self.begin):end_frame=\(end),settb=1/30,setpts=N[wanted];"
            + trim + "[made][wanted]ssim=stats_file=-[compared]"
        var arguments = tool + ["-i", path] + inputs
        arguments += ["-filter_complex", filter, "-map", "[compared]", "-f", "null", "-"]
        let lines = try await ChildProcess.run(arguments, within: .seconds(300)).split(separator: "\n")
        let values = lines.compactMap { line in
            line.split(separator: " ").first { $0.hasPrefix("All:") }.flatMap { Double($0.dropFirst(4)) }
        }
        guard values.count == end - Self.begin else {
            throw ToolFailure("\(values.count) frames could be compared, of \(end - Self.begin)")
        }
        return values.reduce(0, +) / Double(values.count)
    }

    /// Returns the filter of the reference mix without an output label, so that more filters can be appended.
    ///
    /// - Parameter first: The number of the first host's input.
    private func reference(from first: Int) -> String {
        let tiles = GridLayout.rectangles(count: clips.count, width: program.width, height: program.height)
        let scaled = tiles.enumerated().map { index, tile in
            let crop = FramePlacement(
                width: 1280,
                height: 720,
                aspect: .square,
                rectangle: PixelRectangle(x: tile.x, y: tile.y, width: tile.width, height: tile.height),
                fit: .fill
            ).crop
            let trim = "crop=\(crop.width):\(crop.height):\(crop.x):\(crop.y):exact=1"
            return "[\(first + index):v]settb=1/30,setpts=N,\(trim),"
                + "scale=\(tile.width):\(tile.height):flags=lanczos+accurate_rnd+full_chroma_int[t\(index)];"
        }
        let videoInputs = tiles.indices.map { "[t\($0)]" }.joined()
        guard tiles.count > 1 else { return scaled.joined() + videoInputs }
        let positions = tiles.map { "\($0.x)_\($0.y)" }.joined(separator: "|")
        return scaled.joined()
            + "\(videoInputs)xstack=inputs=\(tiles.count):layout=\(positions):fill=\(Self.background),"
            + "pad=\(program.width):\(program.height):0:0:\(Self.background),"
    }

    /// The program's background colour.
    private static let background = "0x101012"
}
