import FootlightTesting

/// Players whose every packet can be seen as it comes.
enum Players {
    /// Plays RTMP with rtmpdump; messages as they come, timestamps untouched.
    static func rtmp(_ url: String) throws -> (child: ChildProcess, tail: FLVTail) {
        // Unbuffered, or a packet would be seen when the next ones push it out.
        let child = try ChildProcess(["stdbuf", "-o0", "rtmpdump", "-q", "--live", "-r", url, "-o", "-"])
        return (child, FLVTail(path: child.outputPath))
    }

    /// Plays HTTP-FLV with curl; the body as it comes.
    static func flv(_ url: String) throws -> (child: ChildProcess, tail: FLVTail) {
        let child = try ChildProcess(["curl", "-sS", "-f", "-N", url])
        return (child, FLVTail(path: child.outputPath))
    }

    /// What a decoder complains about in a file; empty for a sound one.
    ///
    /// Timestamps keep the file's own time base: in one made of a frame rate that ffmpeg guesses, pictures may meet.
    static func complaints(about path: String) async throws -> String {
        let child = try ChildProcess([
            "ffmpeg", "-hide_banner", "-nostdin", "-v", "error", "-i", path, "-enc_time_base", "-1", "-f", "null", "-",
        ])
        try await child.waitForSuccess(.seconds(60))
        return child.standardError
    }
}
