import FootlightTesting

/// Players of one room's program, cheap enough for dozens of them: nothing is decoded.
final class Crowd {
    private(set) var rtmp: [ChildProcess] = []
    private(set) var flv: [ChildProcess] = []
    private(set) var hls: [HLSPlayer] = []
    private let gateway: GatewayProcess
    private let room: String
    private let query: String

    /// - Parameter token: What all of them show.
    init(watching room: String, on gateway: GatewayProcess, token: String? = nil) {
        self.gateway = gateway
        self.room = room
        query = token.map { "?token=\($0)" } ?? ""
    }

    /// As many more of each kind begin to watch.
    func join(rtmp: Int, flv: Int, hls: Int) throws {
        for _ in 0..<rtmp {
            let call = ["rtmpdump", "-q", "--live", "-r", gateway.rtmpURL(room: room) + query, "-o", "/dev/null"]
            self.rtmp.append(try ChildProcess(call))
        }
        for _ in 0..<flv {
            let call = ["curl", "-sS", "-f", "-N", "-o", "/dev/null", gateway.flvURL(room: room) + query]
            self.flv.append(try ChildProcess(call))
        }
        for _ in 0..<hls { self.hls.append(HLSPlayer(gateway.hlsURL(room: room) + query)) }
    }

    /// As many of each kind go, those who came first.
    func leave(rtmp: Int, flv: Int, hls: Int) async {
        for child in self.rtmp.prefix(rtmp) + self.flv.prefix(flv) { child.end() }
        for player in self.hls.prefix(hls) { await player.leave() }
        self.rtmp.removeFirst(rtmp)
        self.flv.removeFirst(flv)
        self.hls.removeFirst(hls)
    }

    /// Whether everyone still plays.
    var isWatching: Bool {
        rtmp.allSatisfy(\.isRunning) && flv.allSatisfy(\.isRunning) && hls.allSatisfy { $0.playlists > 0 }
    }
}
