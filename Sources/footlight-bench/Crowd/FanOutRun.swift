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

    /// Seconds before the crowd comes; the server is looked at between the two.
    private static let lead = (first: 1, rest: 4)
    /// Seconds until everybody has come and is known to watch, which Footlight says of nobody before the fifth.
    private static let settling = 7

    /// - Parameter alone: Bytes that `measureAlone` found for such a server.
    func measure(_ server: MediaServer, alone: Int) async throws -> FanOutFigures {
        try await withStream(on: server) { try await measure(server, alone: alone, $0, $1) }
    }

    /// The server's resident bytes without a crowd, when it has been on air for as long as with one.
    ///
    /// A server that keeps the last minute of a program takes more and more until it has that, whoever watches. What it
    /// takes beyond this is the crowd's.
    func measureAlone(_ server: MediaServer) async throws -> Int {
        try await withStream(on: server) { stream, group in
            try await Task.sleep(for: .seconds(Self.lead.first + Self.lead.rest))
            let probe = DelayProbe(server, of: stream, group: group)
            try await Task.sleep(for: .seconds(Self.settling + seconds))
            let reading = try ServerReading(server.name, pid: server.pid)
            _ = probe.stop()
            return reading.bytes
        }
    }

    private func withStream<Result>(
        on server: MediaServer,
        _ body: (PublishedStream, MultiThreadedEventLoopGroup) async throws -> Result
    ) async throws -> Result {
        defer { server.end() }
        let stream = try await PublishedStream(clip, to: server)
        defer { stream.stop() }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            let result = try await body(stream, group)
            try await group.shutdownGracefully()
            return result
        } catch {
            try await group.shutdownGracefully()
            throw error
        }
    }

    private func measure(
        _ server: MediaServer,
        alone: Int,
        _ stream: PublishedStream,
        _ group: MultiThreadedEventLoopGroup
    ) async throws -> FanOutFigures {
        var figures = FanOutFigures()
        try await Task.sleep(for: .seconds(Self.lead.first))
        let quiet = try ServerReading(server.name, pid: server.pid)
        try await Task.sleep(for: .seconds(Self.lead.rest))
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
        figures.rest =
            (last.restMilliseconds(since: first) - before.restMilliseconds(since: quiet)) / Double(viewers)
        figures.alone = Double(alone) / 1024 / 1024
        figures.memory = Double(last.bytes - alone) / 1024 / Double(viewers)
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
