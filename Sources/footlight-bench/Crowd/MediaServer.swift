import Egress
import FootlightTesting

/// A server that one stream is published to and many viewers play it from.
struct MediaServer {
    static let room = "bench"

    let name: String
    let pid: Int32
    let port: Int
    let application = "live"
    let stream = MediaServer.room
    /// Where the stream is published.
    let target: PushAddress
    /// Ends the server.
    let end: () -> Void

    /// Where the stream is played.
    var url: String { "rtmp://127.0.0.1:\(port)/\(application)/\(stream)" }

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

    /// The gateway with a room that nobody is in; the stream is published as its program, as a mixer would.
    ///
    /// - Parameters:
    ///   - tick: Milliseconds between two writes to a viewer.
    ///   - threads: Event loops.
    ///   - binary: The footlight program; the one beside this program when nil.
    static func gateway(tick: Int, threads: Int, binary: String?) async throws -> MediaServer {
        let environment = [
            "FOOTLIGHT_FANOUT_TICK": "\(tick)", "FOOTLIGHT_THREADS": "\(threads)", "FOOTLIGHT_LOG_LEVEL": "error",
        ]
        let gateway = try await GatewayProcess(environment: environment, binary: binary)
        try expect(try await gateway.api("POST", "/v1/rooms", ["unique_name": .string(room)]), "the room")
        let token = try MixerToken.mint(dataFolder: gateway.dataFolder, room: room, epoch: 1)
        let port = gateway.endpoints.rtmpPort
        return MediaServer(
            name: "Footlight, \(tick) ms",
            pid: gateway.endpoints.pid,
            port: port,
            target: try PushAddress(url: "rtmp://127.0.0.1:\(port)/live", streamKey: "\(room)?token=\(token)&epoch=1"),
            end: { gateway.end() }
        )
    }
}
