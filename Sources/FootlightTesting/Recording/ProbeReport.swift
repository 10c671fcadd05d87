import Foundation

/// What ffprobe writes as JSON, in its own words.
struct ProbeReport: Decodable {
    struct Stream: Decodable {
        var index: Int
        var codecType: String?
        var codecName: String?
        var profile: String?
        var width: Int?
        var height: Int?
        var pixFmt: String?
        var colorRange: String?
        var colorSpace: String?
        var sampleRate: String?
        var channels: Int?
        var hasBFrames: Int?

        var kind: RecordedPacket.Kind? { codecType.flatMap(RecordedPacket.Kind.init(rawValue:)) }
    }

    struct Packet: Decodable {
        var streamIndex: Int
        var pts: Int64?
        var ptsTime: String?
        var dtsTime: String?
        var flags: String?
        var size: String?
    }

    var streams: [Stream]
    var packets: [Packet]

    static func of(_ path: String) async throws -> ProbeReport {
        let streams = "index,codec_type,codec_name,profile,width,height,pix_fmt,color_range,color_space"
        let text = try await ChildProcess.run([
            "ffprobe", "-v", "error", "-print_format", "json", "-show_entries",
            "stream=\(streams),sample_rate,channels,has_b_frames"
                + ":packet=stream_index,pts,pts_time,dts_time,flags,size",
            path,
        ])
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(ProbeReport.self, from: Data(text.utf8))
    }
}
