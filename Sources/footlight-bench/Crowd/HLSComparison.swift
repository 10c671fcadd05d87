import FootlightTesting
import Foundation
import Media

/// HLS viewers at a gateway, and at an nginx that serves the same bytes from files.
struct HLSComparison {
    let clip: Clip
    let workloads: [HLSWorkload]
    let sizes: [Int]
    let threads: Int
    let seconds: Int
    let joins: Int
    let rounds: Int
    let program: GatewayProgram

    /// Seconds in which a crowd settles before it is measured.
    private static let settling = 2
    /// Seconds in which the server and the machine are watched without a crowd.
    private static let lead = 4

    /// Measures, and prints a table.
    func run() async throws {
        let gateway = try await MediaServer.gateway(tick: 66, threads: threads, program: program)
        defer { gateway.end() }
        guard let port = gateway.httpPort else { throw ToolFailure("the gateway has no port for HTTP") }
        let stream = try await PublishedStream(clip, to: gateway)
        defer { stream.stop() }
        let scout = PlaylistScout(port: port, room: gateway.stream, stream: stream)
        // Three segments, so that all there is to a playlist is in it.
        try await Task.sleep(for: .seconds(9))
        guard let news = scout.news, let part = scout.middlePart, let period = news.partMilliseconds else {
            try scout.stop()
            throw ToolFailure("the gateway has no parts")
        }
        var connection = try HTTPExchange(port: port)
        let files = [
            "part.m4s": part, "media.m3u8": Array(news.playlist.utf8),
            "init.mp4": try connection.get(news.initializationPath).body,
            "index.m3u8": try connection.get("/live/\(gateway.stream)/index.m3u8").body,
        ]
        let nginx = try await NginxFiles(files)
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
            "first picture, median",
            "first picture, 99 %",
            "delay, median",
            "delay, 99 %"
        )
        for size in sizes {
            // The gateway closes a connection that was silent while a crowd was measured.
            connection = try HTTPExchange(port: port)
            // A viewer under another's name may not wait beside it.
            let playlists = try (0..<size).map { _ in
                try PlaylistScout.mediaPath(room: gateway.stream, connection: &connection)
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
                        workload.steps(scout, playlists: playlists, period: period)
                    ) {
                        guard workload == .lowLatency else { return }
                        $0.firstPicture = try join(port: port, room: gateway.stream)
                    }
                    figures.delay = scout.pictureDelays
                    ours.append(figures)
                }
                table.add(row("nginx, \(workload.rawValue)", size, theirs, theirs))
                table.add(row("Footlight, \(workload.rawValue)", size, ours, theirs))
            }
        }
        try scout.stop()
        table.printOut()
        print("\nparts of \(period) ms at most; times in milliseconds;")
        print("the processor's above what each server uses without viewers; the machine's is all but the players' own;")
        print("delay is from a part's last picture at the publisher to the part's last byte at a player")
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
            throw ToolFailure("\(name): \(end.closed) viewers sent away, \(end.failures) requests refused")
        }
        let answers = Double(end.answers - start.answers)
        let time = last.moment.seconds(since: first.moment)
        // Milliseconds a second.
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

    /// Viewers who come one after the other and leave with the part that their first picture is in.
    private func join(port: Int, room: String) throws -> Samples {
        var waits = Samples()
        for _ in 0..<joins {
            let start = MonotonicTime.now()
            var connection = try HTTPExchange(port: port)
            let path = try PlaylistScout.mediaPath(room: room, connection: &connection)
            let playlist = try connection.get(path)
            let news = PlaylistScout.read(String(decoding: playlist.body, as: UTF8.self), path: path)
            for path in [news.initializationPath, news.firstPath] {
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
            median(1) { $0.firstPicture.median }, median(1) { $0.firstPicture.percentile(99) },
            median(1) { $0.delay.median }, median(1) { $0.delay.percentile(99) },
        ]
    }
}
