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

    /// Video kilobits per second at up to 30 pictures a second when nothing else is asked for.
    public var videoBitrate: Int {
        switch self {
        case .fullHD: 5000
        case .hd: 3000
        case .standard: 2000
        case .low: 1000
        }
    }

    /// Video kilobits per second that suit a size and a rate of pictures, 300 to 10 000 in steps of 100.
    ///
    /// A named size has its own; between two of them the number of pixels decides, and beyond them the rate grows with the
    /// pixels. Above 30 pictures a second it grows to one and a half times as much at 60. Any size may be asked about,
    /// checked or not.
    public static func videoBitrate(width: Int, height: Int, frameRate: FrameRate) -> Int {
        let pixels = max(Double(width) * Double(height), 0)
        let steps = allCases.map { (pixels: Double($0.width * $0.height), bitrate: Double($0.videoBitrate)) }
        guard let largest = steps.first, let smallest = steps.last else { return 0 }
        var bitrate = largest.bitrate * pixels / largest.pixels
        if pixels < smallest.pixels { bitrate = smallest.bitrate * pixels / smallest.pixels }
        for (above, below) in zip(steps, steps.dropFirst()) where (below.pixels...above.pixels).contains(pixels) {
            let part = (pixels - below.pixels) / (above.pixels - below.pixels)
            bitrate = below.bitrate + part * (above.bitrate - below.bitrate)
        }
        // A rate that was not checked may be no number, which no comparison holds for.
        if frameRate.perSecond > 30 { bitrate *= 1 + min(frameRate.perSecond - 30, 30) / 60 }
        return Int(min(max((bitrate / 100).rounded() * 100, 300), 10_000))
    }
}
