import Foundation

extension Recording {
    /// The sound, all channels in equal parts or one of them alone.
    ///
    /// A hole of more than a tenth of a second in the timestamps becomes silence, so later sound keeps its time.
    ///
    /// - Parameter channel: From 0, in the order of the stream; nil for all.
    /// - Throws: `ToolFailure` when there is no sound or no such channel.
    public func sound(channel: Int? = nil) async throws -> SoundTrack {
        guard let audio, audio.channels > (channel ?? 0), let first = packets(.audio).first else {
            throw ToolFailure("\(path) has no such sound")
        }
        let folder = try TemporaryFolder("sound")
        let rate = SoundTrack.sampleRate
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
        return SoundTrack(startTime: first.presentationTime, samples: samples)
    }
}
