import Foundation

/// What libavformat and libavcodec make of a file or playlist.
enum Oracle {
    /// Checksums of the decoded pictures (`v`) or sounds (`a`), in order.
    static func frames(_ input: URL, stream: String) throws -> [String] {
        let lines = try Command.lines([
            "ffmpeg", "-v", "error", "-i", input.path, "-map", "0:\(stream):0", "-fps_mode", "passthrough",
            "-f", "framemd5", "-",
        ])
        return lines.filter { !$0.hasPrefix("#") }
            .compactMap { $0.split(separator: ",").last?.trimmingCharacters(in: .whitespaces) }
    }

    struct PacketTimes: Equatable {
        var presentation: Double
        var decode: Double
        var duration: Double
        var isKey: Bool
    }

    /// The packets of one kind, as the demuxer finds them.
    static func packets(_ input: URL, stream: String) throws -> [PacketTimes] {
        let lines = try Command.lines([
            "ffprobe", "-v", "error", "-select_streams", stream, "-show_entries",
            "packet=pts_time,dts_time,duration_time,flags", "-of", "csv=p=0", input.path,
        ])
        return lines.compactMap { line in
            let fields = line.split(separator: ",").map(String.init)
            guard fields.count >= 4, let pts = Double(fields[0]), let dts = Double(fields[1]) else { return nil }
            return PacketTimes(
                presentation: pts,
                decode: dts,
                duration: Double(fields[2]) ?? 0,
                isKey: fields[3].hasPrefix("K")
            )
        }
    }
}
