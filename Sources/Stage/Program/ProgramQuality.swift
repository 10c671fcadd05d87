/// A named size of the program with the video rate that suits it.
public enum ProgramQuality: String, Sendable, Hashable, Codable, CaseIterable {
    case fullHD = "1080p"
    case hd = "720p"
    case standard = "480p"
    case low = "360p"

    /// Pixels across in landscape.
    public var width: Int {
        switch self {
        case .fullHD: 1920
        case .hd: 1280
        case .standard: 854
        case .low: 640
        }
    }

    /// Pixels down in landscape.
    public var height: Int {
        switch self {
        case .fullHD: 1080
        case .hd: 720
        case .standard: 480
        case .low: 360
        }
    }

    /// Video kilobits per second when nothing else is asked for.
    public var videoBitrate: Int {
        switch self {
        case .fullHD: 5000
        case .hd: 3000
        case .standard: 2000
        case .low: 1000
        }
    }
}
