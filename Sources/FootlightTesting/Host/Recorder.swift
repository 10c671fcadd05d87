/// A player that writes what it gets into a file.
public final class Recorder: Sendable {
    /// The player.
    public let child: ChildProcess
    /// The file it writes.
    public let path: String

    private let seconds: Double
    private let endings: [ChildProcess.Exit]

    init(child: ChildProcess, path: String, seconds: Double, endings: [ChildProcess.Exit] = [.code(0)]) {
        self.child = child
        self.path = path
        self.seconds = seconds
        self.endings = endings
    }

    /// Starts rtmpdump on an RTMP URL; it writes the messages as they come, timestamps untouched.
    public static func rtmpdump(_ url: String, seconds: Double, to path: String) throws -> Recorder {
        let command = ["timeout", "-s", "INT", "\(seconds)", "rtmpdump", "-q", "--live", "-r", url, "-o", path]
        let child = try ChildProcess(command)
        return Recorder(child: child, path: path, seconds: seconds, endings: [.code(0), .code(124)])
    }

    /// Starts curl on an HTTP-FLV URL; it writes the body as it comes.
    public static func curl(_ url: String, seconds: Double, to path: String) throws -> Recorder {
        let command = ["curl", "-sS", "-f", "-N", "--max-time", "\(seconds)", "-o", path, url]
        let child = try ChildProcess(command)
        return Recorder(child: child, path: path, seconds: seconds, endings: [.code(0), .code(28)])
    }

    /// Waits for the end of the recording and opens it.
    ///
    /// - Parameter patience: Seconds on top of the length of the recording, for the start.
    /// - Throws: `ToolFailure` when the player fails or the file holds no media.
    public func finish(patience: Double = 20) async throws -> Recording {
        guard let exit = try await child.wait(.seconds(seconds + patience)), endings.contains(exit) else {
            let outcome = child.exit.map { "ended with \($0)" } ?? "still runs"
            child.end()
            throw ToolFailure("the recorder of \(path) \(outcome)", log: child.standardError)
        }
        child.end()
        return try await Recording(path: path)
    }
}
