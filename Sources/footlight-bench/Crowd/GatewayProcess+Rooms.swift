import Egress
import FootlightTesting

extension GatewayProcess {
    /// Makes a room.
    ///
    /// - Parameter settings: What its request says besides its name.
    func makeRoom(_ name: String, _ settings: [String: JSONValue] = [:]) async throws {
        let body = settings.merging(["unique_name": .string(name)]) { $1 }
        try expect(try await api("POST", "/v1/rooms", .object(body)), "the room")
    }

    /// Lets a host join a room.
    ///
    /// - Returns: Where it publishes to, and its sid.
    func makePlace(for identity: String, in room: String) async throws -> (address: PushAddress, sid: String) {
        let body: JSONValue = ["identity": .string(identity), "mode": "SEND_AND_RECV"]
        let reply = try await api("POST", "/v1/rooms/\(room)/participants", body)
        try expect(reply, "a host's place")
        let ingest = reply.json["ingest"]["rtmp"]
        guard let url = ingest["url"].string, let key = ingest["stream_key"].string else {
            throw ToolFailure("a host's place has no address", log: reply.text)
        }
        return (try PushAddress(url: url, streamKey: key), reply.json["participant"]["sid"].string ?? "")
    }

    /// Where the program of a room that nobody is in is published to, as by its first mixer.
    func programAddress(of room: String) throws -> PushAddress {
        let token = try MixerToken.mint(dataFolder: dataFolder, room: room, epoch: 1)
        return try PushAddress(
            url: "rtmp://127.0.0.1:\(endpoints.rtmpPort)/live",
            streamKey: "\(room)?token=\(token)&epoch=1"
        )
    }
}

/// Refuses an answer of the gateway that is no success.
func expect(_ reply: GatewayReply, _ what: String) throws {
    guard (200..<300).contains(reply.status) else {
        throw ToolFailure("\(what): HTTP \(reply.status)", log: reply.text)
    }
}
