import FootlightTesting
import Foundation
import NIOPosix

/// Viewers of all three kinds, who stay from the beginning to the end.
final class SoakAudience {
    private let rtmp: [SoakPlayer]
    /// What the first of them hears and sees.
    let ear = SoakEar()
    let eye = SoakEye()
    private let flv: [SoakPlayer]
    private let hls: [SoakHLSPlayer]
    private let gateway: GatewayProcess
    private let room: String

    init(_ count: Int, room: String, _ gateway: GatewayProcess, group: MultiThreadedEventLoopGroup) {
        self.gateway = gateway
        self.room = room
        let (url, ear, eye) = (gateway.rtmpURL(room: room), ear, eye)
        rtmp = (0..<count).map { SoakPlayer(url, ear: $0 == 0 ? ear : nil, eye: $0 == 0 ? eye : nil, group: group) }
        flv = (0..<count).map { _ in SoakPlayer(flv: room, port: gateway.endpoints.httpPort, group: group) }
        hls = (0..<count).map { _ in SoakHLSPlayer(gateway.hlsURL(room: room)) }
    }

    /// The longest that a viewer by RTMP or HTTP-FLV waited for a picture since the last call, in seconds.
    func takeLongestWait() -> Double { (rtmp + flv).map { $0.takeLongestWait() }.max() ?? 0 }

    /// How many the gateway counts now.
    func counted() async throws -> Int {
        try await gateway.api("GET", "/v1/rooms/\(room)/viewership").json["concurrent_viewers"].int ?? -1
    }

    /// How many there are.
    var count: Int { rtmp.count + flv.count + hls.count }

    /// Everybody who was let go, and every request that was refused.
    var faults: [String] {
        rtmp.compactMap(\.end).map { "a viewer by RTMP was let go: \($0)" }
            + flv.compactMap(\.end).map { "a viewer by HTTP-FLV was let go: \($0)" }
            + (rtmp + flv).filter { $0.backwardSteps > 0 }.map { "time ran backwards \($0.backwardSteps) times" }
            + (rtmp + flv).filter { $0.soundGaps > 0 }.map { "the sound had \($0.soundGaps) gaps" }
            + hls.flatMap(\.faults)
    }

    func leave() async {
        for player in rtmp + flv { player.stop() }
        for player in hls { await player.leave() }
    }
}
