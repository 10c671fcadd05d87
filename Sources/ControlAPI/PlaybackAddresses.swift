/// Where this gateway listens, for the addresses it hands out.
public struct PlaybackAddresses: Sendable, Hashable {
    /// The host that is bound, used when a request does not name one.
    public var host: String
    /// The port of HTTP.
    public var httpPort: Int
    /// The port of RTMP.
    public var rtmpPort: Int

    /// Takes the bound host and ports.
    public init(host: String, httpPort: Int, rtmpPort: Int) {
        self.host = host
        self.httpPort = httpPort
        self.rtmpPort = rtmpPort
    }

    /// The same ports under the host by which a client reached us.
    func reached(by name: String?) -> PlaybackAddresses {
        guard let name else { return self }
        return PlaybackAddresses(host: name, httpPort: httpPort, rtmpPort: rtmpPort)
    }

    /// The server address for encoders.
    var ingest: String { "rtmp://\(host):\(rtmpPort)/live" }

    func hls(_ room: String) -> String { "http://\(host):\(httpPort)/live/\(room)/index.m3u8" }

    func flv(_ room: String) -> String { "http://\(host):\(httpPort)/live/\(room).flv" }

    func rtmp(_ room: String) -> String { "rtmp://\(host):\(rtmpPort)/live/\(room)" }

    func api(_ path: String) -> String { "http://\(host):\(httpPort)/v1/\(path)" }
}
