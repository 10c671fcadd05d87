import Foundation
import GatewayModel
import ServiceLifecycle
import Synchronization

/// A gateway with one room and two synthetic hosts on air, to look at.
public struct DemoShow: Sendable {
    private let configuration: GatewayConfiguration
    private let folder: DemoFolder
    private static let room = "demo"

    /// Prepares the show; nothing is opened before it runs.
    ///
    /// - Parameter folder: Removed when the show has ended, whether it was the data folder or not.
    public init(_ configuration: GatewayConfiguration, folder: DemoFolder) {
        self.configuration = configuration
        self.folder = folder
    }

    /// Runs until SIGTERM or SIGINT.
    ///
    /// - Throws: what kept the show from going on air, after the gateway has ended.
    public func run() async throws {
        defer { folder.remove() }
        let encoders = DemoEncoders()
        defer { encoders.end() }
        let (listening, told) = AsyncStream.makeStream(of: Endpoints.self)
        let opening = Opening {
            for await endpoints in listening { return try await goOnAir(endpoints, encoders: encoders) }
        }
        try await GatewayService(configuration).run(beside: opening) { told.yield($0) }
        if let failure = opening.failure { throw failure }
    }

    /// Puts the show on air and stays with it; without a show the gateway ends as it does on Ctrl-C.
    private final class Opening: Service {
        private let goOnAir: @Sendable () async throws -> Void
        private let thrown = Mutex<(any Error)?>(nil)

        init(_ goOnAir: @escaping @Sendable () async throws -> Void) {
            self.goOnAir = goOnAir
        }

        /// What kept the show from going on air; nil where nobody waited for it any more.
        var failure: (any Error)? { thrown.withLock { $0 } }

        func run() async throws {
            do {
                try await cancelWhenGracefulShutdown(goOnAir)
                try await gracefulShutdown()
            } catch {
                // A show that is ended before it is on air has no fault.
                guard !Task.isShuttingDownGracefully, !Task.isCancelled else { return }
                thrown.withLock { $0 = error }
            }
        }
    }

    private func goOnAir(_ endpoints: Endpoints, encoders: DemoEncoders) async throws {
        let room = Self.room
        let directory = try DataDirectory(configuration.dataDirectory)
        let token = try directory.read(OperatorToken.fileName).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let host = ["0.0.0.0", "::"].contains(configuration.host) ? "127.0.0.1" : configuration.host
        let api = DemoAPI(
            base: "http://\(host):\(endpoints.httpPort)/v1",
            token: token.trimmingCharacters(in: .whitespacesAndNewlines)
        )
        do {
            _ = try await api.post("/rooms", ["unique_name": room])
        } catch let refusal as DemoAPI.Refused where refusal.status == 409 {
            // The room of an earlier demo was found again; its hosts join it anew.
        }
        for (identity, name, look) in [("ada", "Ada", DemoEncoders.Look.bars), ("ben", "Ben", .gradients)] {
            let answer = try await api.post(
                "/rooms/\(room)/participants",
                ["identity": identity, "display_name": name, "mode": "SEND_AND_RECV"]
            )
            let joined = try WireJSON.decode(JoinAnswer.self, from: answer)
            guard let ingest = joined.ingest?.rtmp else { continue }
            try encoders.start(look, address: "\(ingest.url)/\(ingest.streamKey)")
        }
        print("Waiting for the hosts and the program ...")
        fflush(nil)
        try await Self.waitUntilOnAir(api, encoders: encoders)
        let isKept = configuration.dataDirectory != folder.path
        print(
            """

            On air. Watch:
              RTMP      rtmp://\(host):\(endpoints.rtmpPort)/live/\(room)
              HTTP-FLV  http://\(host):\(endpoints.httpPort)/live/\(room).flv
              HLS       http://\(host):\(endpoints.httpPort)/live/\(room)/index.m3u8
            with ffplay, mpv or VLC, or in a browser:
              http://\(host):\(endpoints.httpPort)/watch/\(room)

            Run it at http://\(host):\(endpoints.httpPort)/dashboard with the token in
              \(directory.filePath(OperatorToken.fileName))

            How many are watching:
              curl -H "Authorization: Bearer $(cat \(directory.filePath(OperatorToken.fileName)))" \\
                http://\(host):\(endpoints.httpPort)/v1/rooms/\(room)/viewership
              curl http://127.0.0.1:\(endpoints.adminPort)/metrics

            Ctrl-C ends the show\(isKept ? "" : ", and removes what it kept; --data-dir DIR would keep it").
            """
        )
        // Into a file or a pipe the addresses would otherwise come only with the end of the show.
        fflush(nil)
    }

    /// The most time from the encoders' start to a program with both of them that players are given.
    private static let patience = Duration.seconds(30)

    /// Asks the API and plays nothing: whoever looks at the figures is the first to be seen in them.
    private static func waitUntilOnAir(_ api: DemoAPI, encoders: DemoEncoders) async throws {
        let deadline = ContinuousClock.now + patience
        while ContinuousClock.now < deadline {
            guard encoders.areRunning else { throw NotOnAir(reason: "ffmpeg, which plays the hosts, has ended") }
            let layout = try WireJSON.decode(LayoutResource.self, from: try await api.get("/rooms/\(room)/layout"))
            let areHostsSeen = layout.tiles.count { $0.source == "camera" } == 2
            let egress = try WireJSON.decode(EgressResource.self, from: try await api.get("/rooms/\(room)/egress"))
            if areHostsSeen, egress.hls.state == "HLS_PLAYABLE" { return }
            try await Task.sleep(for: .milliseconds(250))
        }
        throw NotOnAir(reason: "the hosts were not in the program in time")
    }

    private struct NotOnAir: Error, CustomStringConvertible {
        let reason: String
        var description: String { "The demo cannot go on air: \(reason)." }
    }
}
