import Egress
import FootlightTesting
import Media
import NIOPosix
import RTMP

/// A server that one stream is published to and many viewers play it from.
struct MediaServer {
    static let room = "bench"

    /// How a crowd watches it.
    enum Playback: String, CaseIterable {
        case rtmp
        case flv
    }

    let name: String
    let pid: Int32
    let port: Int
    /// Where it serves by HTTP; nil when it does not.
    var httpPort: Int?
    var playback = Playback.rtmp
    let application = "live"
    let stream = MediaServer.room
    /// Where the stream is published.
    let target: PushAddress
    /// Ends the server.
    let end: () -> Void

    /// The port at which its viewers come.
    var viewerPort: Int { playback == .rtmp ? port : httpPort ?? port }

    /// What they say there.
    var dialogue: Dialogue {
        switch playback {
        case .rtmp: .rtmp(port: port, application: application, stream: stream)
        case .flv: .flv(port: viewerPort, stream: stream)
        }
    }

    /// A player that hands out what comes and when; the one of the form in which the crowd watches.
    func player(
        group: MultiThreadedEventLoopGroup,
        onPacket: @escaping @Sendable (MediaPacket, MonotonicTime) -> Void,
        onEnd: @escaping @Sendable () -> Void
    ) -> any StreamPlayer {
        switch playback {
        case .rtmp:
            let url = "rtmp://127.0.0.1:\(port)/\(application)/\(stream)"
            return RTMPPlayer(url: url, group: group, onPacket: onPacket, onEnd: { _ in onEnd() })
        case .flv:
            return FLVPlayer(port: viewerPort, dialogue: dialogue, group: group, onPacket: onPacket, onEnd: onEnd)
        }
    }

    /// nginx with its RTMP module, one process, no recording.
    static func nginx() async throws -> MediaServer {
        let server = try await NginxRTMP(isRecording: false)
        guard let pid = server.pid else { throw ToolFailure("nginx is gone", log: server.log) }
        return MediaServer(
            name: "nginx-rtmp",
            pid: pid,
            port: server.port,
            target: try PushAddress(url: server.url, streamKey: room),
            end: { server.stop() }
        )
    }

    private init(name: String, pid: Int32, port: Int, target: PushAddress, end: @escaping () -> Void) {
        self.name = name
        self.pid = pid
        self.port = port
        self.target = target
        self.end = end
    }

    /// The gateway with a room that nobody is in; the stream is published as its program, as a mixer would.
    ///
    /// - Parameters:
    ///   - tick: Milliseconds between two writes to a viewer.
    ///   - threads: Event loops.
    ///   - program: The gateway.
    static func gateway(tick: Int, threads: Int, program: GatewayProgram) async throws -> MediaServer {
        let gateway = try await program.start(["FOOTLIGHT_FANOUT_TICK": "\(tick)", "FOOTLIGHT_THREADS": "\(threads)"])
        return try await MediaServer(gateway, name: "Footlight, \(tick) ms")
    }

    /// Makes a room in a gateway that nobody is in.
    init(_ gateway: GatewayProcess, name: String) async throws {
        try await gateway.makeRoom(Self.room)
        self.name = name
        pid = gateway.endpoints.pid
        port = gateway.endpoints.rtmpPort
        httpPort = gateway.endpoints.httpPort
        target = try gateway.programAddress(of: Self.room)
        end = { gateway.end() }
    }
}
