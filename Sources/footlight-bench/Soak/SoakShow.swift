import Egress
import Stage
import TestSupport

/// Hosts that join and leave: the first one stays, each of the others is alternately on air and away.
struct SoakShow {
    private struct Host {
        let encoder: SoakHost
        /// Seconds on air and away, different for each host, so that all combinations occur.
        let period: (on: Double, off: Double)
    }

    private var hosts: [Host] = []

    init(hosts count: Int, room: String, _ gateway: GatewayProcess) async throws {
        for number in 0..<min(max(count, 2), 12) {
            hosts.append(
                Host(
                    encoder: try await SoakHost("host-\(number)", clip: number, room: room, gateway),
                    period: number == 0 ? (.infinity, 0) : (17 + 6 * Double(number), 5 + 2 * Double(number))
                )
            )
        }
    }

    var onAir: Int { hosts.count { $0.encoder.isOnAir } }

    /// Starts and stops the hosts that are due.
    mutating func tick(at second: Double) async throws {
        for host in hosts {
            let (on, off) = host.period
            let isDue = on.isInfinite || second.truncatingRemainder(dividingBy: on + off) < on
            switch (isDue, host.encoder.isOnAir) {
            case (true, false): try host.encoder.enter()
            case (false, true): host.encoder.leave()
            case (true, true), (false, false): break
            }
        }
    }

    mutating func end() {
        for host in hosts { host.encoder.leave() }
    }
}

/// A host and the encoder that publishes as this host.
final class SoakHost {
    let sid: String
    private let identity: String
    private let address: PushAddress
    private let clip: Clip
    private var push: RTMPPush?
    private var feed: LiveFeed?

    /// Adds the host to the room without publishing.
    ///
    /// - Parameter number: The number of the clip to send.
    init(_ identity: String, clip number: Int, room: String, _ gateway: GatewayProcess) async throws {
        (address, sid) = try await gateway.makeHost(for: identity, in: room)
        self.identity = identity
        clip = try await Clip.host(number % 4, seconds: 8)
    }

    var isOnAir: Bool { feed != nil }

    /// Starts to publish, from the beginning of the clip.
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

/// Loads the processors from the first sixth to the half of a show, to check the program's degradation.
struct SoakCPULoad {
    private let count: Int
    private let span: Range<Double>
    private let gateway: GatewayProcess
    private let room: String
    private var loops: [ChildProcess] = []
    private var level = 0
    private var highest = 0

    /// - Parameters:
    ///   - count: The number of busy loops.
    ///   - seconds: The duration of the show.
    init(_ count: Int, of seconds: Double, room: String, _ gateway: GatewayProcess) {
        self.count = count
        span = seconds / 6..<seconds / 2
        self.gateway = gateway
        self.room = room
    }

    mutating func tick(at second: Double) async throws {
        if loops.isEmpty, count > 0, span.contains(second) {
            loops = try (0..<count).map { _ in try ChildProcess(["sh", "-c", "while :; do :; done"]) }
            print("at \(second.text(0)) s \(count) busy loops begin")
        } else if !loops.isEmpty, !span.contains(second) {
            end()
            print("at \(second.text(0)) s the busy loops end")
        }
        let load = try await gateway.api("GET", "/v1/rooms/\(room)").json["degradation"]
        let now = load["level"].int ?? 0
        guard now != level else { return }
        level = now
        highest = max(highest, now)
        print(
            "at \(second.text(0)) s the program is at degradation level \(now):",
            "\(load["reason"].string ?? "no degradation"),",
            "\((load["work"].double ?? 0).text(2)) of a frame's time, \((load["cores"].double ?? 0).text(2)) cores"
        )
    }

    mutating func end() {
        for loop in loops { loop.end() }
        loops = []
    }

    /// The failed checks: without load the program must not degrade, with load it must, and it must recover afterwards.
    var faults: [String] {
        switch (count, highest) {
        case (0, 1...): ["the program degraded without load, up to level \(highest)"]
        case (1..., 0): ["the program did not degrade"]
        default: level < highest || highest == 0 ? [] : ["the program did not recover from level \(highest)"]
        }
    }
}
