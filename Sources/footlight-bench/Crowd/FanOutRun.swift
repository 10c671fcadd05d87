import Media
import NIOCore
import NIOPosix
import TestSupport

/// Measures one server with one crowd, while further viewers join and leave.
struct FanOutRun {
    let clip: Clip
    let viewers: Int
    let seconds: Int
    let joins: Int

    /// Seconds before the crowd joins; the server is measured between the two.
    private static let lead = (first: 1, rest: 4)
    /// Seconds until all viewers have joined and are proven; Footlight proves a viewer after five seconds at the
    /// earliest.
    private static let settling = 7

    /// - Parameter alone: The bytes that `measureAlone` returned for such a server.
    func measure(_ server: MediaServer, alone: Int) async throws -> FanOutFigures {
        try await withStream(on: server) { try await measure(server, alone: alone, $0, $1) }
    }

    /// Returns the server's resident bytes without a crowd, after as long on air as with one.
    ///
    /// A server that caches the last minute of a program grows until the cache is full, whatever its audience. Memory
    /// beyond this is the crowd's.
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
        guard end.closed == 0 else { throw ToolFailure("\(server.name) disconnected \(end.closed) viewers") }
        figures.processor = last.milliseconds(since: first) / Double(viewers)
        figures.rest =
            (last.restMilliseconds(since: first) - before.restMilliseconds(since: quiet)) / Double(viewers)
        figures.alone = Double(alone) / 1024 / 1024
        figures.memory = Double(last.bytes - alone) / 1024 / Double(viewers)
        let due = try bytesPerSecond * Double(viewers) * last.moment.seconds(since: first.moment)
        figures.delivered = Double(end.bytes - start.bytes) / due
        figures.firstKey = try await StartupProbe().join(server, count: joins, group: group)
        return figures
    }

    /// The bytes per second of the clip's media, without protocol headers.
    private var bytesPerSecond: Double {
        get throws {
            Double(try clip.packets.reduce(0) { $0 + $1.body.readableBytes }) / Double(clip.seconds)
        }
    }
}

/// The cost of one crowd on one server.
struct FanOutFigures {
    /// Processor milliseconds per viewer and second.
    var processor = 0.0
    /// The same for the rest of the machine, that is without the server and this program: mostly what the kernel sends
    /// later than the server wrote it, billed to no process.
    var rest = 0.0
    /// Processor milliseconds per second with the stream and without viewers.
    var idle = 0.0
    /// Processor milliseconds per viewer for joining, admission, and the first seven seconds of playback.
    var coming = 0.0
    /// Resident memory in MiB with the stream and one viewer, after the duration of a crowd measurement.
    var alone = 0.0
    /// The additional memory of the crowd, in KiB per viewer.
    var memory = 0.0
    /// Milliseconds from connecting to the first keyframe.
    var firstKey = Samples()
    /// Milliseconds from the publisher to a viewer.
    var delay = Samples()
    /// The delivered share of the bytes due to the crowd.
    var delivered = 0.0

    /// Processor milliseconds per viewer and second, including what no process is billed for.
    var sending: Double { processor + rest }
}
