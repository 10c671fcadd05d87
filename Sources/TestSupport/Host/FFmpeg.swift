/// The system's ffmpeg, as a host's encoder and as a player.
public enum FFmpeg {
    private static let base = ["ffmpeg", "-hide_banner", "-nostdin", "-loglevel", "warning", "-y"]

    /// Starts a host that encodes its script in real time and publishes it until it is ended.
    ///
    /// - Parameters:
    ///   - script: The media of the host.
    ///   - url: An RTMP URL with the stream key as its last component.
    ///   - seconds: The duration; nil for unlimited.
    public static func host(_ script: HostScript, to url: String, seconds: Double? = nil) throws -> ChildProcess {
        let length = seconds.map { ["-t", "\($0)"] } ?? []
        return try ChildProcess(base + script.arguments(isRealTime: true) + length + ["-f", "flv", url])
    }

    /// Starts a host that publishes a file in real time without encoding, which is far cheaper.
    ///
    /// - Parameter isLooped: Whether the file repeats, with continuous timestamps.
    public static func host(file: String, to url: String, isLooped: Bool = true) throws -> ChildProcess {
        let loop = isLooped ? ["-stream_loop", "-1"] : []
        return try ChildProcess(base + ["-re"] + loop + ["-i", file, "-c", "copy", "-f", "flv", url])
    }

    /// Encodes a script into a file as fast as possible.
    public static func encode(_ script: HostScript, seconds: Double, to path: String) async throws {
        try await ChildProcess.run(
            base + script.arguments(isRealTime: false) + ["-t", "\(seconds)", path],
            within: .seconds(120)
        )
    }

    /// Writes an FLV file that changes its video size: the media of one host followed by that of another.
    ///
    /// Published with `host(file:to:)`, it simulates an encoder that changes its size on air by a new sequence header.
    ///
    /// - Parameter seconds: The duration of each of the two.
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

    /// Starts recording a stream as a player; several recorders may run concurrently.
    ///
    /// - Parameters:
    ///   - url: An RTMP, HTTP-FLV or HLS URL.
    ///   - seconds: The recorded duration, from the first packet.
    ///   - path: The file, whose extension selects the container.
    public static func record(_ url: String, seconds: Double, to path: String) throws -> StreamRecorder {
        var limits = ["-t", "\(seconds)"]
        if !url.contains(".m3u8") { limits += ["-rw_timeout", "5000000"] }
        // The timestamps are preserved, so that backward steps remain visible.
        let arguments = base + limits + ["-i", url, "-c", "copy", "-copyts", path]
        return StreamRecorder(child: try ChildProcess(arguments), path: path, seconds: seconds)
    }
}

/// A player process that writes a stream to a file.
public final class StreamRecorder: Sendable {
    /// The player process.
    public let child: ChildProcess
    /// The output file.
    public let path: String

    private let seconds: Double
    private let endings: [ChildProcess.Exit]

    init(child: ChildProcess, path: String, seconds: Double, endings: [ChildProcess.Exit] = [.code(0)]) {
        self.child = child
        self.path = path
        self.seconds = seconds
        self.endings = endings
    }

    /// Starts rtmpdump on an RTMP URL, which writes the received messages with unchanged timestamps.
    public static func rtmpdump(_ url: String, seconds: Double, to path: String) throws -> StreamRecorder {
        let command = ["timeout", "-s", "INT", "\(seconds)", "rtmpdump", "-q", "--live", "-r", url, "-o", path]
        let child = try ChildProcess(command)
        return StreamRecorder(child: child, path: path, seconds: seconds, endings: [.code(0), .code(124)])
    }

    /// Starts curl on an HTTP-FLV URL, which writes the received body unchanged.
    public static func curl(_ url: String, seconds: Double, to path: String) throws -> StreamRecorder {
        let command = ["curl", "-sS", "-f", "-N", "--max-time", "\(seconds)", "-o", path, url]
        let child = try ChildProcess(command)
        return StreamRecorder(child: child, path: path, seconds: seconds, endings: [.code(0), .code(28)])
    }

    /// Waits for the end of the recording and opens it.
    ///
    /// - Parameter startupTimeout: The seconds allowed for startup, in addition to the recording's duration.
    /// - Throws: `ToolFailure` if the player fails or the file has no media.
    public func finish(startupTimeout: Double = 20) async throws -> Recording {
        guard let exit = try await child.wait(.seconds(seconds + startupTimeout)), endings.contains(exit) else {
            let outcome = child.exit.map { "ended with \($0)" } ?? "still runs"
            child.end()
            throw ToolFailure("the recorder of \(path) \(outcome)", log: child.standardError)
        }
        child.end()
        return try await Recording(path: path)
    }
}
