/// A media file and what is in it.
///
/// All times are seconds from `startTime`, which is the earliest presentation time in the file.
public struct Recording: Sendable {
    /// The file.
    public let path: String
    /// The streams in the order of the file.
    public let streams: [RecordedStream]
    /// The packets in the order of the file.
    public let packets: [RecordedPacket]
    /// The earliest presentation time in the file, in seconds on the file's own clock.
    public let startTime: Double

    /// Reads the packets of a file; pictures and sound are decoded when they are asked for.
    ///
    /// - Throws: `ToolFailure` when the file cannot be read or holds neither picture nor sound.
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
            throw ToolFailure("\(path) holds neither picture nor sound")
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

    /// The picture stream, or nil without one.
    public var video: RecordedStream? { streams.first { $0.kind == .video } }

    /// The sound stream, or nil without one.
    public var audio: RecordedStream? { streams.first { $0.kind == .audio } }

    /// The packets of one kind in the order of the file.
    public func packets(_ kind: RecordedPacket.Kind) -> [RecordedPacket] {
        packets.filter { $0.kind == kind }
    }

    /// Seconds from the first to the last presentation time of one kind of stream.
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
