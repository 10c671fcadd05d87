import Foundation
import GatewayModel
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A gateway with one room and two synthetic hosts on air, to look at.
public struct DemoShow: Sendable {
    private let configuration: GatewayConfiguration
    private static let room = "demo"

    /// Prepares the show; nothing is opened before it runs.
    public init(_ configuration: GatewayConfiguration) {
        self.configuration = configuration
    }

    /// Runs until SIGTERM or SIGINT.
    public func run() async throws {
        let encoders = DemoEncoders()
        defer { encoders.end() }
        let configuration = configuration
        try await GatewayService(configuration).run { endpoints in
            Task {
                do {
                    try await Self.goOnAir(configuration, endpoints, encoders: encoders)
                } catch {
                    print("the demo cannot go on air: \(error)")
                }
            }
        }
    }

    private static func goOnAir(
        _ configuration: GatewayConfiguration,
        _ endpoints: Endpoints,
        encoders: DemoEncoders
    ) async throws {
        let directory = try DataDirectory(configuration.dataDirectory)
        let token = directory.read(OperatorToken.fileName).map { String(decoding: $0, as: UTF8.self) } ?? ""
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
        for (identity, name, look) in [("ada", "Ada", DemoEncoders.Look.bars), ("ben", "Ben", .mandelbrot)] {
            let answer = try await api.post(
                "/rooms/\(room)/participants",
                ["identity": identity, "display_name": name, "mode": "SEND_AND_RECV"]
            )
            let joined = try WireJSON.decode(JoinAnswer.self, from: answer)
            guard let ingest = joined.ingest?.rtmp else { continue }
            try encoders.start(look, address: "\(ingest.url)/\(ingest.streamKey)")
        }
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

            Ctrl-C ends the show.
            """
        )
        // Into a file or a pipe the addresses would otherwise come only with the end of the show.
        fflush(nil)
    }
}

/// The little of the API that the demo needs.
private struct DemoAPI {
    let base: String
    let token: String

    struct Refused: Error, CustomStringConvertible {
        var status = 0
        let description: String
    }

    func post(_ path: String, _ body: [String: String]) async throws -> Data {
        guard let url = URL(string: base + path) else { throw Refused(description: "bad address \(base + path)") }
        var request = URLRequest(url: url, timeoutInterval: 10)
        request.httpMethod = "POST"
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode(body)
        let (data, response) = try await URLSession.shared.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard (200..<300).contains(status) else {
            throw Refused(status: status, description: String(decoding: data, as: UTF8.self))
        }
        return data
    }
}
