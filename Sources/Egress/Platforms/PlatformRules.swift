import Media

/// What a platform asks of a stream that is pushed to it.
struct PlatformRules: Sendable, Equatable {
    /// The video bitrates for a size at a rate.
    struct Step: Sendable, Equatable {
        /// Pixels of the shorter side, up to which the step goes.
        var lines: Int
        /// Pictures per second, up to which it goes.
        var frameRate: Double
        /// Thousands of bits per second.
        var bitrate: ClosedRange<Double>
    }

    var platform: Platform
    /// The platform's page on it, which changes from time to time: the figures are a guide, and no more than a warning
    /// is made of them.
    var source: String
    /// Which version of the source, or of when; words for people.
    var edition: String
    var needsTLS = false
    /// From the smallest size and rate to the largest.
    var steps: [Step]
    /// Seconds from one key picture to the next, at most.
    var longestKeyInterval: Double
    /// H.264's `profile_idc`s.
    var profiles: Set<Int> = [77, 100]
    /// H.264's level times ten, at most; nil for any.
    var highestLevel: Int?
    /// The codec's configuration may become another one while the stream runs.
    var takesChanges = true
    /// Seconds that a stream may last; nil for any time.
    var longestDuration: Double?
    /// B-frames in a row.
    var mostReorderedPictures = 2
    var audioCodecs: Set<AudioCodec> = [.aac]
    var sampleRates: Set<Int> = [44_100, 48_000]
    /// Thousands of bits per second, at most.
    var highestAudioBitrate: Double

    /// Where the figures are from and of when, for people, who can look whether they still hold.
    var citation: String { "\(source), \(edition)" }

    /// The rules for a platform.
    static func rules(for platform: Platform) -> PlatformRules {
        switch platform {
        case .youtube: youtube
        case .twitch: twitch
        case .facebook: facebook
        case .x: other(.x, keyInterval: 3, videoBitrate: 12_000, audioBitrate: 128)
        case .trovo: other(.trovo, keyInterval: 2, videoBitrate: 9000, audioBitrate: 160)
        case .nimo: other(.nimo, keyInterval: 2, videoBitrate: 6000, audioBitrate: 160)
        case .dlive: other(.dlive, keyInterval: 2, videoBitrate: 6000, audioBitrate: 160)
        case .mux: other(.mux, keyInterval: 2, videoBitrate: 5000, audioBitrate: 160)
        case .livepush: other(.livepush, keyInterval: 2, videoBitrate: 16_000)
        case .restream: other(.restream, keyInterval: 2)
        case .castr: other(.castr, keyInterval: 2)
        case .ivs: other(.ivs, keyInterval: 2)
        case .unknown: unknown
        }
    }

    /// The step that a stream of this size and rate is on; nil when it is beyond all of them.
    func step(lines: Int, frameRate: Double) -> Step? {
        // Rates are told as 30 and measured as 30.02.
        steps.first { lines <= $0.lines && frameRate <= $0.frameRate + 1 }
    }
}

extension PlatformRules {
    /// From the least to the most of all tables that the page has had, so that nobody is warned of what one recommends.
    ///
    /// They were ranges for each size, ranges for all codecs, and a figure for H.264.
    private static let youtube = PlatformRules(
        platform: .youtube,
        source: "https://support.google.com/youtube/answer/2853702",
        edition: "its tables up to August 2026",
        steps: [
            Step(lines: 360, frameRate: 60, bitrate: 400...1000),
            Step(lines: 480, frameRate: 60, bitrate: 500...2000),
            Step(lines: 720, frameRate: 60, bitrate: 1500...8000),
            Step(lines: 1080, frameRate: 30, bitrate: 3000...10_000),
            Step(lines: 1080, frameRate: 60, bitrate: 4000...12_000),
            Step(lines: 1440, frameRate: 60, bitrate: 5000...30_000),
            Step(lines: 2160, frameRate: 60, bitrate: 8000...51_000),
        ],
        longestKeyInterval: 4,
        // Not on the page: what happens to longer ones.
        longestDuration: 12 * 3600,
        audioCodecs: [.aac, .mp3],
        highestAudioBitrate: 160
    )

    private static let twitch = PlatformRules(
        platform: .twitch,
        source: "https://help.twitch.tv/s/article/broadcasting-guidelines",
        edition: "as of October 2026",
        steps: [
            Step(lines: 720, frameRate: 30, bitrate: 0...3000),
            Step(lines: 720, frameRate: 60, bitrate: 0...4500),
            Step(lines: 1080, frameRate: 30, bitrate: 0...4500),
            Step(lines: 1080, frameRate: 60, bitrate: 0...6000),
        ],
        longestKeyInterval: 2,
        longestDuration: 48 * 3600,
        highestAudioBitrate: 320
    )

    private static let facebook = PlatformRules(
        platform: .facebook,
        source: "https://developers.facebook.com/docs/live-video-api/reference",
        edition: "as of April 2026",
        needsTLS: true,
        steps: [
            Step(lines: 360, frameRate: 30, bitrate: 400...1000),
            Step(lines: 360, frameRate: 60, bitrate: 400...1500),
            Step(lines: 480, frameRate: 30, bitrate: 600...2000),
            Step(lines: 480, frameRate: 60, bitrate: 600...3000),
            Step(lines: 720, frameRate: 30, bitrate: 1500...4000),
            Step(lines: 720, frameRate: 60, bitrate: 2250...6000),
            Step(lines: 1080, frameRate: 30, bitrate: 3000...6000),
            Step(lines: 1080, frameRate: 60, bitrate: 4500...9000),
        ],
        longestKeyInterval: 4,
        highestLevel: 42,
        takesChanges: false,
        longestDuration: 8 * 3600,
        highestAudioBitrate: 256
    )

    /// The rules for a platform of which only the most is known, whatever the size; infinite where not even that is.
    private static func other(
        _ platform: Platform,
        keyInterval: Double,
        videoBitrate: Double = .infinity,
        audioBitrate: Double = .infinity
    ) -> PlatformRules {
        PlatformRules(
            platform: platform,
            source: "https://github.com/obsproject/obs-studio/blob/master/plugins/rtmp-services/data/services.json",
            edition: "as of its version 285",
            steps: [Step(lines: .max, frameRate: .infinity, bitrate: 0...videoBitrate)],
            longestKeyInterval: keyInterval,
            highestAudioBitrate: audioBitrate
        )
    }

    /// About what most of the large ones take at the most; too little is for somebody else's server to say, and so is
    /// whether it wants TLS.
    private static let unknown = PlatformRules(
        platform: .unknown,
        source: "the limits of most platforms",
        edition: "for a server that is not known",
        steps: [
            Step(lines: 360, frameRate: 30, bitrate: 0...1000),
            Step(lines: 480, frameRate: 30, bitrate: 0...2000),
            Step(lines: 720, frameRate: 30, bitrate: 0...4000),
            Step(lines: 1080, frameRate: 60, bitrate: 0...6000),
        ],
        longestKeyInterval: 2,
        highestLevel: 42,
        highestAudioBitrate: 160
    )
}
