import Egress
import Foundation
import FootlightModel
import NIOCore
import NIOPosix
import OutboundHTTP
import ServiceLifecycle
import Stage
import Synchronization

/// Runs a gateway with one room and two synthetic hosts.
public struct DemoShow: Sendable {
    private let configuration: GatewayConfiguration
    private let folder: DemoFolder
    private static let room = "demo"

    /// Prepares the demo without opening anything.
    ///
    /// - Parameter folder: The temporary folder, which is removed at the end even if another data folder is configured.
    public init(_ configuration: GatewayConfiguration, folder: DemoFolder) {
        self.configuration = configuration
        self.folder = folder
    }

    /// Runs until SIGTERM or SIGINT.
    ///
    /// - Throws: The error that kept the demo from going on air, after the gateway has ended.
    public func run() async throws {
        defer { folder.remove() }
        let encoders = DemoEncoders()
        defer { encoders.end() }
        let (listening, started) = AsyncStream.makeStream(of: Endpoints.self)
        let startup = Startup {
            for await endpoints in listening { return try await goOnAir(endpoints, encoders: encoders) }
        }
        try await GatewayService(configuration).run(beside: startup) { started.yield($0) }
        if let failure = startup.failure { throw failure }
    }

    /// Puts the demo on air and runs until shutdown; on failure the gateway shuts down as on Ctrl-C.
    private final class Startup: Service {
        private let goOnAir: @Sendable () async throws -> Void
        private let thrown = Mutex<(any Error)?>(nil)

        init(_ goOnAir: @escaping @Sendable () async throws -> Void) {
            self.goOnAir = goOnAir
        }

        /// The error that kept the demo from going on air; nil after a shutdown.
        var failure: (any Error)? { thrown.withLock { $0 } }

        func run() async throws {
            do {
                try await cancelWhenGracefulShutdown(goOnAir)
                try await gracefulShutdown()
            } catch {
                // An interruption before the demo is on air is not an error.
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
            host: host,
            port: endpoints.httpPort,
            token: token.trimmingCharacters(in: .whitespacesAndNewlines)
        )
        do {
            _ = try await api.post("/rooms", ["unique_name": room])
        } catch let refusal as DemoAPI.Refused where refusal.status == 409 {
            // The room of an earlier demo still exists; its hosts join again.
        }
        for (identity, name, pattern) in [("ada", "Ada", DemoEncoders.Pattern.bars), ("ben", "Ben", .gradients)] {
            let answer = try await api.post(
                "/rooms/\(room)/participants",
                ["identity": identity, "display_name": name, "mode": "SEND_AND_RECV"]
            )
            let joined = try WireJSON.decode(JoinAnswer.self, from: answer)
            guard let ingest = joined.ingest?.rtmp else { continue }
            try encoders.start(pattern, address: "\(ingest.url)/\(ingest.streamKey)")
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
        // Without this, a redirected output would show the addresses only at the end.
        fflush(nil)
    }

    /// The timeout from the encoders' start to a playable program with both hosts.
    private static let startTimeout = Duration.seconds(30)

    /// Polls the API without playing, so that the viewer count stays 0.
    private static func waitUntilOnAir(_ api: DemoAPI, encoders: DemoEncoders) async throws {
        let deadline = ContinuousClock.now + startTimeout
        while ContinuousClock.now < deadline {
            guard encoders.areRunning else { throw NotOnAir(reason: "ffmpeg, which plays the hosts, has ended") }
            let layout = try WireJSON.decode(LayoutResource.self, from: try await api.get("/rooms/\(room)/layout"))
            let areHostsSeen = layout.tiles.count { $0.source == .camera } == 2
            let egress = try WireJSON.decode(EgressResource.self, from: try await api.get("/rooms/\(room)/egress"))
            if areHostsSeen, egress.hls.state == .playable { return }
            try await Task.sleep(for: .milliseconds(250))
        }
        throw NotOnAir(reason: "the hosts were not in the program in time")
    }

    private struct NotOnAir: Error, CustomStringConvertible {
        let reason: String
        var description: String { "The demo cannot go on air: \(reason)." }
    }
}

/// The API client of the demo.
struct DemoAPI {
    let host: String
    let port: Int
    let token: String

    /// The time limit of a request, in seconds.
    private static let timeout: Int64 = 10
    /// The maximum size of a response in bytes.
    private static let responseLimit = 1 << 20

    struct Refused: Error, CustomStringConvertible {
        let status: Int
        let description: String
    }

    func get(_ path: String) async throws -> Data {
        try await send(.get, path, body: nil)
    }

    func post(_ path: String, _ body: [String: String]) async throws -> Data {
        try await send(.post, path, body: ByteBuffer(bytes: try JSONEncoder().encode(body)))
    }

    private func send(_ method: OutboundRequest.Method, _ path: String, body: ByteBuffer?) async throws -> Data {
        let deadline = NIODeadline.now() + .seconds(Self.timeout)
        // The gateway of this process, which listens where its operator configured.
        let addresses = try await TargetResolver(TargetPolicy(allowsPrivateAddresses: true))
            .addresses(of: host, port: UInt16(clamping: port), within: Double(Self.timeout))
        var headers = [("Authorization", "Bearer \(token)"), ("Connection", "close")]
        if body != nil { headers.append(("Content-Type", "application/json")) }
        let response = try await OutboundConnection.send(
            OutboundRequest(method, headers: headers, body: body, responseLimit: Self.responseLimit),
            to: OutboundTarget(isSecure: false, host: host, port: port, path: "/v1" + path),
            at: addresses,
            group: MultiThreadedEventLoopGroup.singleton,
            by: deadline
        ).response
        if case .failed(let fault) = response.ending { throw fault }
        guard (200..<300).contains(response.status) else {
            throw Refused(status: response.status, description: String(buffer: response.body))
        }
        return Data(response.body.readableBytesView)
    }
}

/// Two ffmpeg processes that publish as hosts until the demo ends.
final class DemoEncoders: Sendable {
    /// The synthetic video and tone of a host, cheap enough to encode in real time on any machine.
    enum Pattern {
        case bars
        case gradients

        fileprivate var videoSource: String {
            switch self {
            case .bars: "testsrc2=size=1280x720:rate=30"
            case .gradients: "gradients=size=320x180:rate=30:speed=0.02:nb_colors=4:seed=7,scale=1280:720"
            }
        }

        fileprivate var tone: Int {
            switch self {
            case .bars: 440
            case .gradients: 660
            }
        }
    }

    private let running = Mutex<[SpawnedProcess]>([])

    /// Starts an encoder that publishes to `address`.
    func start(_ pattern: Pattern, address: String) throws {
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard null >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        defer { close(null) }
        let arguments =
            ["ffmpeg", "-hide_banner", "-loglevel", "error", "-re"]
            + ["-f", "lavfi", "-i", pattern.videoSource]
            + ["-f", "lavfi", "-i", "sine=frequency=\(pattern.tone):sample_rate=48000"]
            + ["-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-pix_fmt", "yuv420p", "-g", "60"]
            + ["-b:v", "1500k", "-c:a", "aac", "-b:a", "96k", "-f", "flv", address]
        let process = try SpawnedProcess(
            executable: "/usr/bin/env",
            arguments: arguments,
            environment: ProcessInfo.processInfo.environment,
            input: null,
            // ffmpeg's error messages contain the stream key.
            error: null,
            onExit: { _, _ in }
        )
        running.withLock { $0.append(process) }
    }

    /// Whether every encoder is still running.
    var areRunning: Bool { running.withLock { $0.allSatisfy(\.isRunning) } }

    func end() {
        let processes = running.withLock { running in
            defer { running.removeAll() }
            return running
        }
        for process in processes { process.signal(SIGTERM) }
    }
}

/// A temporary data folder of a demo, removed when the demo ends.
public struct DemoFolder: Sendable {
    /// The absolute path; the folder is created by the gateway.
    public let path: String

    /// Makes a unique path in the system's temporary folder.
    public init() {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("footlight-demo-\(UUID().uuidString)").path
    }

    /// Removes the folder and its content if it exists.
    func remove() {
        // An error is ignored: the system cleans its temporary folder.
        try? FileManager.default.removeItem(atPath: path)
    }
}
