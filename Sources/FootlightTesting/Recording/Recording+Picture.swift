import Foundation

extension Recording {
    /// The picture on screen at a time, in the size of the stream.
    public func picture(at time: Double) async throws -> PictureFrame {
        try await pictures(at: [time])[0]
    }

    /// The pictures on screen at these times, in the size of the stream.
    ///
    /// - Throws: `ToolFailure` when there is no picture or a time lies before the first one.
    public func pictures(at times: [Double]) async throws -> [PictureFrame] {
        let shown = packets(.video).sorted { $0.presentationTime < $1.presentationTime }
        let wanted = try times.map { time in
            guard let packet = shown.last(where: { $0.presentationTime <= time + 0.0005 }) else {
                throw ToolFailure("\(path) has no picture at \(time) s")
            }
            return packet
        }
        guard let video, !wanted.isEmpty else { return [] }
        let selection = Set(wanted.map { "eq(pts\\,\($0.presentationTicks))" }).sorted().joined(separator: "+")
        let frames = try await decode(filter: "select=\(selection)", width: video.width, height: video.height)
        return try wanted.map { packet in
            guard let frame = frames.min(by: { distance($0, packet) < distance($1, packet) }),
                distance(frame, packet) < 0.002
            else { throw ToolFailure("\(path): the picture at \(packet.presentationTime) s does not decode") }
            return frame
        }
    }

    /// All pictures that decode, scaled to this size, in the order of presentation.
    ///
    /// - Parameters:
    ///   - width: Even, and small: the pixels of all pictures are held in memory.
    ///   - height: Even.
    public func allPictures(width: Int = 160, height: Int = 90) async throws -> [PictureFrame] {
        try await decode(filter: "null", width: width, height: height)
    }

    private func distance(_ frame: PictureFrame, _ packet: RecordedPacket) -> Double {
        abs(frame.time - packet.presentationTime)
    }

    private func decode(filter: String, width: Int, height: Int) async throws -> [PictureFrame] {
        let folder = try TemporaryFolder("pictures")
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
            throw ToolFailure("\(path): \(times.count) pictures, but \(pixels.count) bytes of pixels")
        }
        return times.enumerated().map { index, time in
            PictureFrame(
                width: width,
                height: height,
                time: time - startTime,
                pixels: Array(pixels[index * size..<(index + 1) * size])
            )
        }
    }
}
