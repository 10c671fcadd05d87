/// How a viewer watches.
public enum PlaybackProtocol: String, Sendable, Hashable, Codable, CaseIterable {
    /// A RECV_ONLY participant known by the API alone, with no player session of ours.
    case sdk
    case rtmp
    case flv
    case hls
    case llhls

    /// A viewer of this kind is one open connection; of the other kinds, a series of requests.
    public var isConnection: Bool { self == .rtmp || self == .flv }
}
