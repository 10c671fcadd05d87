import FootlightTesting
import Media
import NIOCore
import NIOPosix

/// One server with one crowd: the crowd comes, watches for a while, others come and go.
struct FanOutRun {
    let clip: Clip
    let viewers: Int
    let seconds: Int
    let joins: Int

    /// Seconds until everybody has come and is known to watch, which Footlight says of nobody before the fifth.
    private static let settling = 7

    func measure(_ server: MediaServer) async throws -> FanOutFigures {
        defer { server.end() }
        let stream = try await PublishedStream(clip, to: server)
        defer { stream.stop() }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            let figures = try await measure(server, stream, group)
            try await group.shutdownGracefully()
            return figures
        } catch {
            try await group.shutdownGracefully()
            throw error
        }
    }

    private func measure(
        _ server: MediaServer,
        _ stream: PublishedStream,
        _ group: MultiThreadedEventLoopGroup
    ) async throws -> FanOutFigures {
        var figures = FanOutFigures()
        // One whole group of pictures, so that caches are full before memory is read.
        try await Task.sleep(for: .seconds(1))
        let quiet = try ServerReading(server.name, pid: server.pid)
        try await Task.sleep(for: .seconds(2))
        let before = try ServerReading(server.name, pid: server.pid)
        figures.idle = before.milliseconds(since: quiet)

        let crowd = try Crowd(of: viewers, watching: server)
        defer { crowd.leave() }
        let probe = DelayProbe(server, of: stream, group: group)
        try await Task.sleep(for: .seconds(Self.settling))
        probe.reset()
        let first = try ServerReading(server.name, pid: server.pid)
        figures.coming =
            first.milliseconds(since: before) * first.moment.seconds(since: before.moment) / Double(viewers)
        let start = crowd.received
        try await Task.sleep(for: .seconds(seconds))
        let last = try ServerReading(server.name, pid: server.pid)
        let end = crowd.received
        figures.delay = probe.stop()
        guard end.closed == 0 else { throw ToolFailure("\(server.name) sent \(end.closed) viewers away") }
        figures.processor = last.milliseconds(since: first) / Double(viewers)
        figures.kernel = last.kernelMilliseconds(since: first) / Double(viewers)
        figures.memory = Double(last.bytes - before.bytes) / 1024 / Double(viewers)
        let due = try bytesPerSecond * Double(viewers) * last.moment.seconds(since: first.moment)
        figures.delivered = Double(end.bytes - start.bytes) / due
        figures.firstKey = try await Joiners().join(server, count: joins, group: group)
        return figures
    }

    /// Of the clip's media, without the wire's own headers.
    private var bytesPerSecond: Double {
        get throws {
            Double(try clip.packets.reduce(0) { $0 + $1.body.readableBytes }) / Double(clip.seconds)
        }
    }
}
