import Foundation

/// A media file and its contents.
///
/// All times are seconds from `startTime`, the earliest presentation time in the file.
public struct Recording: Sendable {
    /// The path of the file.
    public let path: String
    /// The streams in file order.
    public let streams: [RecordedStream]
    /// The packets in file order.
    public let packets: [RecordedPacket]
    /// The earliest presentation time in seconds on the file's clock.
    public let startTime: Double

    /// Reads the packets of a file; audio and video are decoded on demand.
    ///
    /// - Throws: `ToolFailure` if the file cannot be read or has no packets.
    public init(path: String) async throws {
        let report = try await ProbeReport.of(path)
        var kinds: [Int: RecordedPacket.Kind] = [:]
        for stream in report.streams { kinds[stream.index] = stream.kind }

        let timed = report.packets.compactMap { packet -> RecordedPacket? in
            guard let kind = kinds[packet.streamIndex], let presentation = packet.ptsTime.flatMap(Double.init) else {
                return nil
            }
            return RecordedPacket(
                kind: kind,
                presentationTime: presentation,
                decodeTime: packet.dtsTime.flatMap(Double.init) ?? presentation,
                presentationTicks: packet.pts ?? 0,
                isKey: packet.flags?.contains("K") ?? false,
                size: packet.size.flatMap { Int($0) } ?? 0
            )
        }
        guard let start = timed.map(\.presentationTime).min() else {
            throw ToolFailure("\(path) has no audio or video")
        }
        self.path = path
        startTime = start
        packets = timed.map { packet in
            var packet = packet
            packet.presentationTime -= start
            packet.decodeTime -= start
            return packet
        }
        streams = report.streams.compactMap(RecordedStream.init)
    }

    /// The video stream, or nil.
    public var video: RecordedStream? { streams.first { $0.kind == .video } }

    /// The audio stream, or nil.
    public var audio: RecordedStream? { streams.first { $0.kind == .audio } }

    /// Returns the packets of one kind in file order.
    public func packets(_ kind: RecordedPacket.Kind) -> [RecordedPacket] {
        packets.filter { $0.kind == kind }
    }

    /// Returns the seconds from the first to the last presentation time of one kind.
    public func duration(_ kind: RecordedPacket.Kind) -> Double {
        let times = packets(kind).map(\.presentationTime)
        return (times.max() ?? 0) - (times.min() ?? 0)
    }
}

extension RecordedStream {
    fileprivate init?(_ stream: ProbeReport.Stream) {
        guard let kind = stream.kind else { return nil }
        self.init(
            kind: kind,
            codec: stream.codecName ?? "",
            profile: stream.profile ?? "",
            width: stream.width ?? 0,
            height: stream.height ?? 0,
            pixelFormat: stream.pixFmt ?? "",
            colourRange: stream.colorRange ?? "",
            colourMatrix: stream.colorSpace ?? "",
            sampleRate: stream.sampleRate.flatMap { Int($0) } ?? 0,
            channels: stream.channels ?? 0,
            reorderedFrames: stream.hasBFrames ?? 0
        )
    }
}

extension Recording {
    /// Returns the frame presented at a time, in the size of the stream.
    public func frame(at time: Double) async throws -> RGBFrame {
        try await frames(at: [time])[0]
    }

    /// Returns the frames presented at these times, in the size of the stream.
    ///
    /// - Throws: `ToolFailure` if there is no video or a time precedes the first frame.
    public func frames(at times: [Double]) async throws -> [RGBFrame] {
        let shown = packets(.video).sorted { $0.presentationTime < $1.presentationTime }
        let selected = try times.map { time in
            guard let packet = shown.last(where: { $0.presentationTime <= time + 0.0005 }) else {
                throw ToolFailure("\(path) has no frame at \(time) s")
            }
            return packet
        }
        guard let video, !selected.isEmpty else { return [] }
        let selection = Set(selected.map { "eq(pts\\,\($0.presentationTicks))" }).sorted().joined(separator: "+")
        let frames = try await decode(filter: "select=\(selection)", width: video.width, height: video.height)
        return try selected.map { packet in
            guard let frame = frames.min(by: { distance($0, packet) < distance($1, packet) }),
                distance(frame, packet) < 0.002
            else { throw ToolFailure("\(path): the frame at \(packet.presentationTime) s does not decode") }
            return frame
        }
    }

    /// Returns all decodable frames scaled to this size, in presentation order.
    ///
    /// - Parameters:
    ///   - width: The width, even and small, since all frames are held in memory.
    ///   - height: The height, even.
    public func allFrames(width: Int = 160, height: Int = 90) async throws -> [RGBFrame] {
        try await decode(filter: "null", width: width, height: height)
    }

    private func distance(_ frame: RGBFrame, _ packet: RecordedPacket) -> Double {
        abs(frame.time - packet.presentationTime)
    }

    private func decode(filter: String, width: Int, height: Int) async throws -> [RGBFrame] {
        let folder = try TemporaryFolder("frames")
        let child = try ChildProcess(
            [
                "ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-loglevel", "info", "-y", "-copyts", "-i", path,
                "-map", "0:v:0", "-fps_mode", "passthrough",
                "-vf", filter + ",scale=\(width):\(height):flags=area+accurate_rnd,format=rgb24,showinfo",
                "-f", "rawvideo", folder.file("pixels"),
            ],
            logFolder: folder.path
        )
        try await child.waitForSuccess(.seconds(120))
        let times = child.standardError.matches(of: /pts_time:\s*(-?[0-9.]+)/).compactMap { Double($0.output.1) }
        let pixels = try Data(contentsOf: URL(fileURLWithPath: folder.file("pixels")), options: .alwaysMapped)
        let size = width * height * 3
        guard pixels.count == times.count * size else {
            throw ToolFailure("\(path): \(times.count) frames, but \(pixels.count) bytes of pixels")
        }
        return times.enumerated().map { index, time in
            RGBFrame(
                width: width,
                height: height,
                time: time - startTime,
                pixels: Array(pixels[index * size..<(index + 1) * size])
            )
        }
    }
}

extension Recording {
    /// Decodes the audio, as a mix of all channels or one of them.
    ///
    /// A gap of more than a tenth of a second in the timestamps becomes silence, so that later audio keeps its time.
    ///
    /// - Parameter channel: The channel index from 0, in stream order; nil for all.
    /// - Throws: `ToolFailure` if there is no audio or no such channel.
    public func decodedAudio(channel: Int? = nil) async throws -> DecodedAudio {
        guard let audio, audio.channels > (channel ?? 0), let first = packets(.audio).first else {
            throw ToolFailure("\(path) has no such audio channel")
        }
        let folder = try TemporaryFolder("audio")
        let rate = DecodedAudio.sampleRate
        try await ChildProcess.run([
            "ffmpeg", "-hide_banner", "-nostdin", "-loglevel", "error", "-y", "-copyts", "-i", path, "-map", "0:a:0",
            "-af", "aresample=\(rate):async=1:min_hard_comp=0.1", "-f", "f32le", folder.file("samples"),
        ])
        let data = try Data(contentsOf: URL(fileURLWithPath: folder.file("samples")))
        let all = data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        let channels = audio.channels
        let samples = (0..<all.count / channels).map { index in
            let start = index * channels
            if let channel { return all[start + channel] }
            return all[start..<start + channels].reduce(0, +) / Float(channels)
        }
        return DecodedAudio(startTime: first.presentationTime, samples: samples)
    }
}

extension Recording {
    /// A GOP of a recording.
    public struct RecordedGOP: Sendable, Equatable {
        /// The number of frames.
        public var frames: Int
        /// The time to the next keyframe in seconds.
        public var seconds: Double
    }

    /// The average frame rate of the recording by presentation times; 0 for less than two frames.
    public var frameRate: Double {
        let span = duration(.video)
        return span > 0 ? Double(packets(.video).count - 1) / span : 0
    }

    /// The GOPs that begin and end in the recording.
    public var completeGOPs: [RecordedGOP] {
        let video = packets(.video)
        let keys = video.indices.filter { video[$0].isKey }
        return zip(keys, keys.dropFirst()).map { first, second in
            RecordedGOP(
                frames: second - first,
                seconds: video[second].presentationTime - video[first].presentationTime
            )
        }
    }

    /// Returns the largest decode time difference in seconds between consecutive packets of a kind.
    public func largestGap(_ kind: RecordedPacket.Kind) -> Double {
        let times = packets(kind).map(\.decodeTime)
        return zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? 0
    }

    /// Returns the frame steps in seconds that are not a multiple of the frame duration, to a millisecond.
    ///
    /// A program has none: each step is one frame, or several if a slow machine skipped frames.
    public func unevenSteps(frameRate: Double = 30) -> [Double] {
        let times = packets(.video).map(\.decodeTime)
        return zip(times, times.dropFirst()).map { $1 - $0 }.filter { step in
            let frames = (step * frameRate).rounded()
            return frames < 1 || abs(step - frames / frameRate) > 0.0015
        }
    }

    /// The number of packets with a lower decode time than the previous one of the same stream.
    public var backwardSteps: Int {
        [RecordedPacket.Kind.video, .audio].reduce(0) { sum, kind in
            let times = packets(kind).map(\.decodeTime)
            return sum + zip(times, times.dropFirst()).count { $1 < $0 }
        }
    }
}

extension Recording {
    /// Returns the delay of each beep after its flash in milliseconds; negative if the beep is earlier.
    ///
    /// A flash begins at the first frame brighter than the midpoint between the darkest and the brightest; a beep
    /// begins where the tone exceeds half of its maximum amplitude. Flashes without a beep within half a second are
    /// skipped, as are those in the first tenth of a second, whose beginning cannot be determined.
    ///
    /// - Parameters:
    ///   - frequency: The frequency of the beep in Hz.
    ///   - area: The flashing area as fractions of the frame's width and height; the full frame if nil.
    public func beepDelays(
        frequency: Double = 1000,
        area: (x: Double, y: Double, width: Double, height: Double)? = nil
    ) async throws -> [Double] {
        let (x, y, width, height) = area ?? (0, 0, 1, 1)
        let lights = try await allFrames().map { frame in
            let columns = Double(frame.width)
            let rows = Double(frame.height)
            let colour = frame.averageColour(
                x: Int(x * columns),
                y: Int(y * rows),
                width: max(Int(width * columns), 1),
                height: max(Int(height * rows), 1)
            )
            return (time: frame.time, value: colour.luma)
        }
        let flashes = Recording.rises(lights)
        let beeps = Recording.rises(try await decodedAudio().envelope(frequency: frequency))
        return flashes.filter { $0 > 0.1 }.compactMap { flash in
            beeps.min { abs($0 - flash) < abs($1 - flash) }
                .map { ($0 - flash) * 1000 }
                .flatMap { abs($0) < 500 ? $0 : nil }
        }
    }

    /// Returns the times at which a curve rises through the midpoint of its range.
    private static func rises(_ curve: [(time: Double, value: Double)]) -> [Double] {
        guard let low = curve.map(\.value).min(), let high = curve.map(\.value).max(), high > 0 else { return [] }
        let middle = (low + high) / 2
        return zip(curve, curve.dropFirst()).compactMap { $0.value <= middle && $1.value > middle ? $1.time : nil }
    }
}

extension DecodedAudio {
    /// Returns the amplitude of one frequency over time, in steps of one millisecond with windows of 10 ms.
    func envelope(frequency: Double) -> [(time: Double, value: Double)] {
        let rate = DecodedAudio.sampleRate
        let window = rate / 100
        return stride(from: 0, to: samples.count - window, by: rate / 1000).map { start in
            let middle = Double(start + window / 2) / Double(rate)
            return (startTime + middle, tone(frequency, at: start, count: window))
        }
    }
}

/// The properties of an audio or video stream of a recording.
public struct RecordedStream: Sendable, Equatable {
    /// The kind of the stream.
    public var kind: RecordedPacket.Kind
    /// The codec by its ffmpeg name, such as `h264` or `aac`.
    public var codec: String
    /// The codec profile, such as `High` or `LC`.
    public var profile: String
    /// The width in pixels; 0 for audio.
    public var width: Int
    /// The height in pixels; 0 for audio.
    public var height: Int
    /// The pixel format by its ffmpeg name; empty for audio.
    public var pixelFormat: String
    /// `tv` for limited, `pc` for full range; empty if not signalled.
    public var colourRange: String
    /// The colour matrix by its ffmpeg name, such as `bt709`; empty if not signalled.
    public var colourMatrix: String
    /// The sample rate in Hz; 0 for video.
    public var sampleRate: Int
    /// The number of audio channels; 0 for video.
    public var channels: Int
    /// The number of frames that a decoder must buffer for reordering.
    public var reorderedFrames: Int
}

/// A packet of a recording.
public struct RecordedPacket: Sendable, Equatable {
    /// A kind of stream.
    public enum Kind: String, Sendable {
        case video
        case audio
    }

    /// The kind of its stream.
    public var kind: Kind
    /// The presentation time in seconds from the start of the recording.
    public var presentationTime: Double
    /// The decode time in seconds from the start of the recording.
    public var decodeTime: Double
    /// The presentation time in units of the stream's time base.
    public var presentationTicks: Int64
    /// Whether it is a keyframe.
    public var isKey: Bool
    /// The size in bytes.
    public var size: Int
}

/// The JSON output of ffprobe.
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
