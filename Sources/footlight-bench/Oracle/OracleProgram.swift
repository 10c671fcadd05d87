import Egress
import FootlightTesting

/// A room whose program comes from here, as from a mixer: it connects again when the gateway was gone.
final class OracleProgram {
    private let push: RTMPPush
    private let feed: LiveFeed

    /// Makes the room, and returns when its program can be played in every way.
    ///
    /// - Parameter kilobits: A second, sound included.
    init(room: String, _ gateway: GatewayProcess, kilobits: Int) async throws {
        try await gateway.makeRoom(room)
        let push = RTMPPush(
            name: "program",
            address: try gateway.programAddress(of: room),
            policy: TargetPolicy(allowsPrivateAddresses: true)
        )
        let clip = try await Clip.program(hasSound: true, seconds: 10, kilobits: kilobits)
        push.start()
        feed = try LiveFeed(clip) { push.receive($0) }
        self.push = push
        let isPlayable = try await eventually(within: .seconds(15), every: .milliseconds(100)) {
            let path = "/live/\(room)/index.m3u8"
            return try await gateway.request("GET", port: gateway.endpoints.httpPort, path).status == 200
        }
        guard isPlayable else {
            stop()
            throw ToolFailure("no program comes", log: gateway.log)
        }
    }

    func stop() {
        feed.stop()
        push.stop()
    }
}
