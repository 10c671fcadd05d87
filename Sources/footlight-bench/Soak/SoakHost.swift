import Egress
import FootlightTesting
import Stage

/// A host's place, and an encoder that takes it and leaves it.
final class SoakHost {
    let sid: String
    private let identity: String
    private let address: PushAddress
    private let clip: Clip
    private var push: RTMPPush?
    private var feed: LiveFeed?

    /// Joins the room; nothing is sent yet.
    ///
    /// - Parameter number: Which of the clips it sends.
    init(_ identity: String, clip number: Int, room: String, _ gateway: GatewayProcess) async throws {
        let body: JSONValue = ["identity": .string(identity), "mode": "SEND_AND_RECV"]
        let reply = try await gateway.api("POST", "/v1/rooms/\(room)/participants", body)
        try expect(reply, "a host's place")
        guard let key = reply.json["ingest"]["rtmp"]["stream_key"].string else {
            throw ToolFailure("a host's place has no key", log: reply.text)
        }
        self.identity = identity
        sid = reply.json["participant"]["sid"].string ?? ""
        address = try PushAddress(url: "rtmp://127.0.0.1:\(gateway.endpoints.rtmpPort)/live", streamKey: key)
        clip = try await Clip.host(number % 4, seconds: 8)
    }

    var isOnAir: Bool { feed != nil }

    /// Begins to send; again from the clip's beginning after it has left.
    func enter() throws {
        let push = RTMPPush(name: identity, address: address, policy: TargetPolicy(allowsPrivateAddresses: true))
        push.start()
        self.push = push
        feed = try LiveFeed(clip) { push.receive($0) }
    }

    func leave() {
        feed?.stop()
        push?.stop()
        (feed, push) = (nil, nil)
    }
}
