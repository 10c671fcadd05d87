import Egress
import FootlightTesting
import Stage

/// Hosts who come and go: the first one stays, each of the others is on air for a while and then away for a while.
struct SoakShow {
    private struct Host {
        let address: PushAddress
        let clip: Clip
        /// Seconds on air and away, other ones for each host, so that every mixture comes about.
        let period: (on: Double, off: Double)
        var push: RTMPPush?
        var feed: LiveFeed?
    }

    private var hosts: [Host] = []

    init(hosts count: Int, room: String, _ gateway: GatewayProcess) async throws {
        for number in 0..<min(max(count, 2), 12) {
            let body: JSONValue = ["identity": .string("host-\(number)"), "mode": "SEND_AND_RECV"]
            let reply = try await gateway.api("POST", "/v1/rooms/\(room)/participants", body)
            try expect(reply, "a host's place")
            guard let key = reply.json["ingest"]["rtmp"]["stream_key"].string else {
                throw ToolFailure("a host's place has no key", log: reply.text)
            }
            hosts.append(
                Host(
                    address: try PushAddress(
                        url: "rtmp://127.0.0.1:\(gateway.endpoints.rtmpPort)/live",
                        streamKey: key
                    ),
                    clip: try await Clip.host(number % 4, seconds: 8),
                    period: number == 0 ? (.infinity, 0) : (17 + 6 * Double(number), 5 + 2 * Double(number))
                )
            )
        }
    }

    var onAir: Int { hosts.count { $0.feed != nil } }

    /// Lets hosts come and go that are due to.
    mutating func tick(at second: Double) async throws {
        for index in hosts.indices {
            let (on, off) = hosts[index].period
            let isDue = on.isInfinite || second.truncatingRemainder(dividingBy: on + off) < on
            switch (isDue, hosts[index].feed) {
            case (true, nil):
                let push = RTMPPush(
                    name: "host-\(index)",
                    address: hosts[index].address,
                    policy: TargetPolicy(allowsPrivateAddresses: true)
                )
                push.start()
                hosts[index].push = push
                hosts[index].feed = try LiveFeed(hosts[index].clip) { push.receive($0) }
            case (false, .some):
                leave(index)
            default:
                break
            }
        }
    }

    mutating func end() {
        for index in hosts.indices { leave(index) }
    }

    private mutating func leave(_ index: Int) {
        hosts[index].feed?.stop()
        hosts[index].push?.stop()
        (hosts[index].feed, hosts[index].push) = (nil, nil)
    }
}
