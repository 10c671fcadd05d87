import FootlightTesting

/// Hosts who come and go: the first one stays, each of the others is on air for a while and then away for a while.
struct SoakShow {
    private struct Host {
        let encoder: SoakHost
        /// Seconds on air and away, other ones for each host, so that every mixture comes about.
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

    /// Lets hosts come and go that are due to.
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
