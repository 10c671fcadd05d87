import Foundation
import FoundationNetworking

extension GatewayProcess {
    /// The token that may do everything, which the gateway wrote at its first start.
    public var operatorToken: String {
        get throws {
            try String(contentsOfFile: dataFolder + "/operator.token", encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    /// The RTMP address that hosts publish to: the last part is the stream key.
    public func ingestURL(key: String) -> String { "rtmp://127.0.0.1:\(endpoints.rtmpPort)/live/\(key)" }

    /// Where a room's program is played by RTMP.
    public func rtmpURL(room: String) -> String { "rtmp://127.0.0.1:\(endpoints.rtmpPort)/live/\(room)" }

    /// Where a room's program is played by HTTP-FLV.
    public func flvURL(room: String) -> String { "http://127.0.0.1:\(endpoints.httpPort)/live/\(room).flv" }

    /// Where a room's program is played by HLS.
    public func hlsURL(room: String) -> String { "http://127.0.0.1:\(endpoints.httpPort)/live/\(room)/index.m3u8" }

    /// Sends a request to the control interface.
    ///
    /// - Parameters:
    ///   - method: Such as `POST`.
    ///   - path: Such as `/v1/rooms`.
    ///   - body: Sent as JSON; nothing when nil.
    ///   - token: The operator's when nil; an empty one sends no authorization at all.
    @discardableResult
    public func api(
        _ method: String,
        _ path: String,
        _ body: JSONValue? = nil,
        token: String? = nil
    ) async throws -> GatewayReply {
        var headers: [String: String] = [:]
        let token = try token ?? operatorToken
        if !token.isEmpty { headers["Authorization"] = "Bearer " + token }
        if body != nil { headers["Content-Type"] = "application/json" }
        return try await request(method, port: endpoints.httpPort, path, headers: headers, body: body?.text)
    }

    /// Sends any request to one of the gateway's HTTP ports.
    ///
    /// - Throws: `ToolFailure` with the gateway's log when there is no answer within ten seconds.
    public func request(
        _ method: String,
        port: Int,
        _ path: String,
        headers: [String: String] = [:],
        body: String? = nil
    ) async throws -> GatewayReply {
        guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { throw ToolFailure("no URL: \(path)") }
        var request = URLRequest(url: url, timeoutInterval: 10)
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        do {
            let (data, response) = try await URLSession.shared.data(for: request)
            guard let response = response as? HTTPURLResponse else { throw ToolFailure("\(path): no HTTP answer") }
            var fields: [String: String] = [:]
            for (name, value) in response.allHeaderFields {
                fields[String(describing: name).lowercased()] = String(describing: value)
            }
            let text = String(decoding: data, as: UTF8.self)
            return GatewayReply(status: response.statusCode, headers: fields, text: text)
        } catch {
            throw ToolFailure("\(method) \(path): \(error)", log: log)
        }
    }

    /// What `footlight token` prints: an access token for somebody in one room.
    public func issueToken(room: String, identity: String, mode: String) async throws -> String {
        try await ChildProcess.run([
            Self.findBinary(), "token", "--data-dir", dataFolder, "--room", room, "--identity", identity, "--mode",
            mode,
        ]).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
