import ArgumentParser
import Crypto
import Egress
import FootlightTesting
import Foundation
import TestSupport

extension GatewayProcess {
    /// Creates a room.
    ///
    /// - Parameter settings: The fields of the request besides the name.
    func makeRoom(_ name: String, _ settings: [String: JSONValue] = [:]) async throws {
        let body = settings.merging(["unique_name": .string(name)]) { $1 }
        try expect(try await api("POST", "/v1/rooms", .object(body)), "the room")
    }

    /// Makes a room private.
    ///
    /// - Returns: The text of a ticket for two devices.
    func makePrivate(_ room: String) async throws -> String {
        try expect(try await api("PUT", "/v1/rooms/\(room)/access", ["rule": "token"]), "the access")
        let end = ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: 86_400))
        let reply = try await api("POST", "/v1/rooms/\(room)/tickets", ["devices": 2, "expires_at": .string(end)])
        try expect(reply, "a ticket")
        guard let ticket = reply.json["tickets"][0]["ticket"].string else {
            throw ToolFailure("there is no ticket", log: reply.text)
        }
        return ticket
    }

    /// Adds a host to a room.
    ///
    /// - Returns: The host's ingest address, and its sid.
    func makeHost(for identity: String, in room: String) async throws -> (address: PushAddress, sid: String) {
        let body: JSONValue = ["identity": .string(identity), "mode": "SEND_AND_RECV"]
        let reply = try await api("POST", "/v1/rooms/\(room)/participants", body)
        try expect(reply, "adding a host")
        let ingest = reply.json["ingest"]["rtmp"]
        guard let url = ingest["url"].string, let key = ingest["stream_key"].string else {
            throw ToolFailure("a host has no ingest address", log: reply.text)
        }
        return (try PushAddress(url: url, streamKey: key), reply.json["participant"]["sid"].string ?? "")
    }

    /// Returns the address at which a mixer publishes the program of a room without hosts, for epoch 1.
    func programAddress(of room: String) throws -> PushAddress {
        let token = try MixerToken.issue(dataFolder: dataFolder, room: room, epoch: 1)
        return try PushAddress(
            url: "rtmp://127.0.0.1:\(endpoints.rtmpPort)/live",
            streamKey: "\(room)?token=\(token)&epoch=1"
        )
    }
}

/// Throws unless the gateway's response is a success.
func expect(_ reply: GatewayResponse, _ what: String) throws {
    guard (200..<300).contains(reply.status) else {
        throw ToolFailure("\(what): HTTP \(reply.status)", log: reply.text)
    }
}

extension GatewayProcess {
    /// Waits until a room's program can be played by HLS, which starts later than RTMP and HTTP-FLV.
    ///
    /// - Throws: `ToolFailure` with the gateway's log after half a minute.
    func waitUntilPlayable(_ room: String) async throws {
        let isPlayable = try await eventually(within: .seconds(30), every: .milliseconds(200)) {
            let egress = try await self.api("GET", "/v1/rooms/\(room)/egress")
            return egress.json["hls"]["state"].string == "HLS_PLAYABLE"
        }
        guard isPlayable else { throw ToolFailure("no program is published", log: log) }
    }
}

/// The measured gateway; an option group of every command that starts one.
struct GatewayProgram: ParsableArguments {
    @Option(help: "The footlight executable; by default the one beside this program.")
    var binary: String?

    /// Starts the gateway with its own data folder and with log level `warning`.
    ///
    /// - Parameter settings: Environment variables of the settings, such as `FOOTLIGHT_FANOUT_TICK`.
    /// - Throws: `ToolFailure` with its log when it does not start.
    func start(_ settings: [String: String] = [:]) async throws -> GatewayProcess {
        let log = ["FOOTLIGHT_LOG_LEVEL": "warning"]
        return try await GatewayProcess(environment: log.merging(settings) { $1 }, binary: binary)
    }
}

/// Issues the token with which a mixer publishes a room's program, signed with the gateway's own key.
enum MixerToken {
    /// - Parameter dataFolder: The gateway's data folder, which holds its signing key.
    static func issue(dataFolder: String, room: String, epoch: Int) throws -> String {
        let text = try String(contentsOfFile: dataFolder + "/signing.key", encoding: .utf8)
        guard let key = Data(base64Encoded: text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw ToolFailure("the gateway's signing key cannot be read")
        }
        let now = Date().timeIntervalSince1970.rounded(.down)
        let header: JSONValue = ["alg": "HS256", "kid": "key1", "typ": "JWT"]
        let payload: JSONValue = [
            "sub": "mixer",
            "aud": "footlight",
            "iat": .number(now),
            "nbf": .number(now),
            "exp": .number(now + 3600),
            "footlight": ["role": "mixer", "room": .string(room), "epoch": .number(Double(epoch))],
        ]
        let signed = [header, payload].map { base64URL(Data($0.text.utf8)) }.joined(separator: ".")
        let code = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: SymmetricKey(data: key))
        return signed + "." + base64URL(Data(code))
    }

    private static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
