/// The ffmpeg of the system as the encoder of a host and as a player.
public enum FFmpeg {
    private static let base = ["ffmpeg", "-hide_banner", "-nostdin", "-loglevel", "warning", "-y"]

    /// Starts a host that encodes its script as it goes and publishes it, at the pace of the clock, until it is ended.
    ///
    /// - Parameters:
    ///   - script: What the host sends.
    ///   - url: An RTMP URL whose last part is the stream key.
    ///   - seconds: When the host ends by itself; nil for never.
    public static func host(_ script: HostScript, to url: String, seconds: Double? = nil) throws -> ChildProcess {
        let length = seconds.map { ["-t", "\($0)"] } ?? []
        return try ChildProcess(base + script.arguments(isRealTime: true) + length + ["-f", "flv", url])
    }

    /// Starts a host that publishes a file as it is, at the pace of the clock; far cheaper than to encode.
    ///
    /// - Parameter isLooped: Begins again at the end of the file, with timestamps that go on.
    public static func host(file: String, to url: String, isLooped: Bool = true) throws -> ChildProcess {
        let loop = isLooped ? ["-stream_loop", "-1"] : []
        return try ChildProcess(base + ["-re"] + loop + ["-i", file, "-c", "copy", "-f", "flv", url])
    }

    /// Writes what a host would send into a file, as fast as the machine can.
    public static func encode(_ script: HostScript, seconds: Double, to path: String) async throws {
        try await ChildProcess.run(
            base + script.arguments(isRealTime: false) + ["-t", "\(seconds)", path],
            within: .seconds(120)
        )
    }

    /// Writes an FLV file whose picture changes its size: one host's media, and the other's from where it ends.
    ///
    /// Published with `host(file:to:)` it is what an encoder sends that is switched to another size on air: a new
    /// sequence header in the running stream.
    ///
    /// - Parameter seconds: Of each of the two.
    public static func encode(
        _ first: HostScript,
        then second: HostScript,
        seconds: Double,
        to path: String
    ) async throws {
        let folder = try TemporaryFolder("join")
        try await encode(first, seconds: seconds, to: folder.file("first.flv"))
        try await encode(second, seconds: seconds, to: folder.file("second.flv"))
        let joined = try FLVFile(path: folder.file("first.flv")).followed(by: FLVFile(path: folder.file("second.flv")))
        try joined.write(to: path)
    }

    /// Starts to record what a player would see; several recorders may run at the same time.
    ///
    /// - Parameters:
    ///   - url: RTMP, HTTP-FLV or HLS.
    ///   - seconds: How much is recorded, from the first packet on.
    ///   - path: The file; its ending says the container.
    public static func record(_ url: String, seconds: Double, to path: String) throws -> Recorder {
        var limits = ["-t", "\(seconds)"]
        if !url.contains(".m3u8") { limits += ["-rw_timeout", "5000000"] }
        // The timestamps stay as they are, so that one that runs backwards is still there to be seen.
        let arguments = base + limits + ["-i", url, "-c", "copy", "-copyts", path]
        return Recorder(child: try ChildProcess(arguments), path: path, seconds: seconds)
    }
}
