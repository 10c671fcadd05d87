import FootlightTesting
import Foundation
import Media
import NIOCore
import NIOPosix

/// One server with one crowd: the crowd comes, watches for a while, others come and go.
struct FanOutRun {
    let clip: Clip
    let viewers: Int
    let seconds: Int
    let joins: Int

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
        let quiet = try Reading(server)
        try await Task.sleep(for: .seconds(2))
        let before = try Reading(server)
        figures.idle = before.milliseconds(since: quiet)

        let crowd = try Crowd(of: viewers, watching: server)
        defer { crowd.leave() }
        let probe = DelayProbe(server, of: stream, group: group)
        try await Task.sleep(for: .seconds(2))
        probe.reset()
        let first = try Reading(server)
        let start = crowd.received
        try await Task.sleep(for: .seconds(seconds))
        let last = try Reading(server)
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

    /// A server's account at one moment.
    private struct Reading {
        let moment: MonotonicTime
        let used: Double
        let kernel: Double
        let bytes: Int

        init(_ server: MediaServer) throws {
            guard let used = RunningProcess.processorSeconds(of: server.pid),
                let bytes = RunningProcess.residentBytes(of: server.pid)
            else { throw ToolFailure("\(server.name) is gone") }
            moment = .now()
            self.used = used
            kernel = RunningProcess.all().filter(Self.isNetworkThread).reduce(0) {
                $0 + (RunningProcess.processorSeconds(of: $1) ?? 0)
            }
            self.bytes = bytes
        }

        /// Processor milliseconds per second.
        func milliseconds(since earlier: Reading) -> Double {
            (used - earlier.used) * 1000 / moment.seconds(since: earlier.moment)
        }

        /// The same of the kernel's threads.
        func kernelMilliseconds(since earlier: Reading) -> Double {
            (kernel - earlier.kernel) * 1000 / moment.seconds(since: earlier.moment)
        }

        private static func isNetworkThread(_ pid: Int32) -> Bool {
            let name = FileManager.default.contents(atPath: "/proc/\(pid)/comm") ?? Data()
            return name.starts(with: Data("ksoftirqd/".utf8))
        }
    }
}
