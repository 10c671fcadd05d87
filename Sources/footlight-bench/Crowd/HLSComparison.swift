import Foundation
import Media
import TestSupport

/// Compares HLS viewers of a gateway with those of an nginx that serves the same bytes from files.
struct HLSComparison {
    let clip: Clip
    let workloads: [HLSWorkload]
    let sizes: [Int]
    let threads: Int
    let seconds: Int
    let joins: Int
    let rounds: Int
    let program: GatewayProgram

    /// Seconds in which a crowd settles before the measurement.
    private static let settling = 2
    /// Seconds in which the server and the machine are measured without a crowd.
    private static let lead = 4

    /// Runs the measurements and prints a table.
    func run() async throws {
        let gateway = try await MediaServer.gateway(tick: 66, threads: threads, program: program)
        defer { gateway.end() }
        guard let port = gateway.httpPort else { throw ToolFailure("the gateway has no port for HTTP") }
        let stream = try await PublishedStream(clip, to: gateway)
        defer { stream.stop() }
        let monitor = PlaylistMonitor(port: port, room: gateway.stream, stream: stream)
        // Three segments, so that the playlist has its full length.
        try await Task.sleep(for: .seconds(9))
        guard let snapshot = monitor.snapshot, let part = monitor.middlePart,
            let period = snapshot.partMilliseconds
        else {
            try monitor.stop()
            throw ToolFailure("the gateway has no parts")
        }
        var connection = try HTTPExchange(port: port)
        let files = [
            "part.m4s": part, "media.m3u8": Array(snapshot.playlist.utf8),
            "init.mp4": try connection.get(snapshot.initializationPath).body,
            "index.m3u8": try connection.get("/live/\(gateway.stream)/index.m3u8").body,
        ]
        let nginx = try await NginxFileServer(files)
        defer { nginx.stop() }
        var table = Table(
            "server and request",
            "viewers",
            "answers / s",
            "KiB",
            "CPU us / answer",
            "of nginx",
            "and machine",
            "of nginx with it",
            "CPU ms / viewer s",
            "KiB / viewer",
            "first frame, median",
            "first frame, 99 %",
            "delay, median",
            "delay, 99 %"
        )
        for size in sizes {
            // The gateway closes a connection that was idle while a crowd was measured.
            connection = try HTTPExchange(port: port)
            // Each viewer has its own session, so that none blocks another's request.
            let playlists = try (0..<size).map { _ in
                try PlaylistMonitor.mediaPath(room: gateway.stream, connection: &connection)
            }
            for workload in workloads {
                var (theirs, ours) = ([HLSFigures](), [HLSFigures]())
                for _ in 0..<rounds {
                    theirs.append(
                        try await measure(
                            "nginx",
                            pid: nginx.pid,
                            port: nginx.port,
                            size,
                            workload.steps(size: size, period: period)
                        )
                    )
                    var figures = try await measure(
                        "the gateway",
                        pid: gateway.pid,
                        port: port,
                        size,
                        workload.steps(monitor, playlists: playlists, period: period)
                    ) {
                        guard workload == .lowLatency else { return }
                        $0.firstFrame = try join(port: port, room: gateway.stream)
                    }
                    figures.delay = monitor.frameDelays
                    ours.append(figures)
                }
                table.add(row("nginx, \(workload.rawValue)", size, theirs, theirs))
                table.add(row("Footlight, \(workload.rawValue)", size, ours, theirs))
            }
        }
        try monitor.stop()
        table.printOut()
        print("\nparts of \(period) ms at most; times in milliseconds;")
        print("processor time without each server's idle load; the machine's without that of the players;")
        print("delay is from a part's last frame at the publisher to the part's last byte at a player")
    }

    private func measure(
        _ name: String,
        pid: Int32,
        port: Int,
        _ size: Int,
        _ steps: @escaping @Sendable (Int, Int, MonotonicTime) -> RequestCrowd.Step,
        whileWatching: (inout HLSFigures) throws -> Void = { _ in }
    ) async throws -> HLSFigures {
        let quiet = try ServerReading(name, pid: pid)
        try await Task.sleep(for: .seconds(Self.lead))
        let before = try ServerReading(name, pid: pid)
        let crowd = try RequestCrowd(of: size, port: port, next: steps)
        defer { crowd.leave() }
        try await Task.sleep(for: .seconds(Self.settling))
        let first = try ServerReading(name, pid: pid)
        let start = crowd.count
        try await Task.sleep(for: .seconds(seconds))
        let last = try ServerReading(name, pid: pid)
        let end = crowd.count
        guard end.closed == 0, end.failures == start.failures else {
            throw ToolFailure("\(name): \(end.closed) viewers disconnected, \(end.failures) requests refused")
        }
        let answers = Double(end.answers - start.answers)
        let time = last.moment.seconds(since: first.moment)
        // Milliseconds per second.
        let used = last.milliseconds(since: first) - before.milliseconds(since: quiet)
        let rest = last.restMilliseconds(since: first) - before.restMilliseconds(since: quiet)
        var figures = HLSFigures()
        figures.rate = answers / time
        figures.size = Double(end.bytes - start.bytes) / answers / 1024
        figures.cost = used * 1000 / figures.rate
        figures.machineCost = (used + rest) * 1000 / figures.rate
        figures.viewerCost = used / Double(size)
        figures.memory = Double(last.bytes - before.bytes) / 1024 / Double(size)
        try whileWatching(&figures)
        return figures
    }

    /// Measures viewers that join one after the other and leave with the part that holds their first frame.
    private func join(port: Int, room: String) throws -> Samples {
        var waits = Samples()
        for _ in 0..<joins {
            let start = MonotonicTime.now()
            var connection = try HTTPExchange(port: port)
            let path = try PlaylistMonitor.mediaPath(room: room, connection: &connection)
            let playlist = try connection.get(path)
            let snapshot = PlaylistMonitor.read(String(decoding: playlist.body, as: UTF8.self), path: path)
            for path in [snapshot.initializationPath, snapshot.firstPath] {
                let status = try connection.get(path).status
                guard status == 200 else { throw ToolFailure("\(path) is answered with \(status)") }
            }
            waits.add(MonotonicTime.now().seconds(since: start) * 1000)
            Thread.sleep(forTimeInterval: 0.08 * Double.random(in: 0.25...1.75))
        }
        return waits
    }

    private func row(_ name: String, _ viewers: Int, _ runs: [HLSFigures], _ nginx: [HLSFigures]) -> [String] {
        func median(_ digits: Int, _ part: (HLSFigures) -> Double) -> String {
            Samples(runs.map(part)).median.text(digits)
        }
        func ratio(_ part: (HLSFigures) -> Double) -> String {
            Samples(zip(runs, nginx).map { part($0) / part($1) }).median.text(2)
        }
        return [
            name, "\(viewers)", median(0, \.rate), median(1, \.size), median(1, \.cost), ratio(\.cost),
            median(1, \.machineCost), ratio(\.machineCost),
            median(3, \.viewerCost), median(1, \.memory),
            median(1) { $0.firstFrame.median }, median(1) { $0.firstFrame.percentile(99) },
            median(1) { $0.delay.median }, median(1) { $0.delay.percentile(99) },
        ]
    }
}

/// The cost of one kind of request on one server.
struct HLSFigures {
    /// Responses per second.
    var rate = 0.0
    /// KiB per response, header included.
    var size = 0.0
    /// Processor microseconds per response, without the server's idle load.
    var cost = 0.0
    /// The same for the whole machine without this program: including what the kernel sends later than the server wrote
    /// it, billed to no process.
    var machineCost = 0.0
    /// Processor milliseconds per viewer and second, like `cost`.
    var viewerCost = 0.0
    /// Resident memory per viewer in KiB.
    var memory = 0.0
    /// Milliseconds from connecting to the last byte of the part that holds the first frame.
    var firstFrame = Samples()
    /// Milliseconds from the publisher's last frame of a part to that part's last byte.
    var delay = Samples()
}

/// The requests of every viewer of a crowd for each part of the program.
enum HLSWorkload: String, CaseIterable {
    /// Fetches the newest part.
    case parts
    /// Fetches the current media playlist.
    case playlists
    /// Waits for the next playlist and fetches its new part; from a file server both at once.
    case lowLatency = "low latency"

    /// Returns the requests of the viewers of a gateway.
    ///
    /// - Parameters:
    ///   - playlists: The path of each viewer's own media playlist.
    ///   - period: The duration of a part in milliseconds.
    func steps(
        _ monitor: PlaylistMonitor,
        playlists: [String],
        period: Int64
    ) -> @Sendable (Int, Int, MonotonicTime) -> RequestCrowd.Step {
        let start = MonotonicTime.now()
        return { [self] viewer, turn, now in
            guard let snapshot = monitor.snapshot else { return .rest }
            if self != .lowLatency || turn == 0 {
                guard now >= Self.due(viewer, turn, of: playlists.count, every: period, since: start) else {
                    return .rest
                }
            }
            switch self {
            case .parts: return .request(HTTPExchange.request(snapshot.partPath))
            case .playlists: return .request(HTTPExchange.request(playlists[viewer]))
            case .lowLatency:
                // A viewer that has a part waits for the next one.
                let path = turn % 2 == 0 ? playlists[viewer] + snapshot.nextDirectives : snapshot.partPath
                return .request(HTTPExchange.request(path))
            }
        }
    }

    /// Returns the requests of the viewers of a file server.
    ///
    /// - Parameter period: The duration of a part in milliseconds.
    func steps(size: Int, period: Int64) -> @Sendable (Int, Int, MonotonicTime) -> RequestCrowd.Step {
        let start = MonotonicTime.now()
        let (part, playlist) = (HTTPExchange.request("/part.m4s"), HTTPExchange.request("/media.m3u8"))
        return { [self] viewer, turn, now in
            let round = self == .lowLatency ? turn / 2 : turn
            guard now >= Self.due(viewer, round, of: size, every: period, since: start) else { return .rest }
            switch self {
            case .parts: return .request(part)
            case .playlists: return .request(playlist)
            case .lowLatency: return .request(turn % 2 == 0 ? playlist : part)
            }
        }
    }

    /// Returns the time of a viewer's request; requests are spread evenly over a period.
    private static func due(
        _ viewer: Int,
        _ round: Int,
        of size: Int,
        every period: Int64,
        since start: MonotonicTime
    ) -> MonotonicTime {
        start.advanced(milliseconds: period * Int64(round) + period * Int64(viewer) / Int64(max(size, 1)))
    }
}
