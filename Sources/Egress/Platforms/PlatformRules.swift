import Media
import Stage

/// A platform's requirements on a stream that is pushed to it.
struct PlatformRules: Sendable, Equatable {
    /// The video bitrates for a frame size and rate.
    struct Step: Sendable, Equatable {
        /// The largest shorter side in pixels.
        var lines: Int
        /// The largest frame rate per second.
        var frameRate: Double
        /// Kilobits per second.
        var bitrate: ClosedRange<Double>
    }

    var platform: Platform
    /// The platform's documentation page, which changes from time to time; violations therefore cause only warnings.
    var source: String
    /// The version or date of the source, for display.
    var edition: String
    var needsTLS = false
    /// From the smallest size and rate to the largest.
    var steps: [Step]
    /// The maximum keyframe interval in seconds.
    var longestKeyInterval: Double
    /// The allowed values of H.264's `profile_idc`.
    var profiles: Set<Int> = [77, 100]
    /// The maximum H.264 level times ten; nil for any.
    var highestLevel: Int?
    /// Whether the codec's configuration may change while the stream runs.
    var takesChanges = true
    /// The maximum duration of a stream in seconds; nil for any.
    var longestDuration: Double?
    /// The maximum number of consecutive B-frames.
    var maximumReorderedFrames = 2
    var audioCodecs: Set<AudioCodec> = [.aac]
    var sampleRates: Set<Int> = [44_100, 48_000]
    /// Kilobits per second.
    var highestAudioBitrate: Double

    /// The source and its date, for display.
    var citation: String { "\(source), \(edition)" }

    /// Returns the rules of a platform.
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

    /// Returns the step of this size and rate; nil when it exceeds all of them.
    func step(lines: Int, frameRate: Double) -> Step? {
        // A nominal rate of 30 may be measured as 30.02.
        steps.first { lines <= $0.lines && frameRate <= $0.frameRate + 1 }
    }
}

extension PlatformRules {
    /// The union of all tables that the page has had, so that none of its recommendations causes a warning.
    ///
    /// The page has listed ranges for each size, ranges for all codecs, and a figure for H.264.
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
        // Not on the page, which describes only what happens to longer streams.
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

    /// Makes the rules of a platform with a known maximum, independent of the size; infinite where it is unknown.
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

    /// The common maximum of most large platforms; the minimum and the need for TLS depend on the unknown server.
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

extension PlatformRules {
    /// The tolerance of a bitrate, as a share, for encoders and measurements.
    private static let bitrateTolerance = 0.1
    /// The largest factor by which one second may exceed the maximum bitrate, because of a keyframe or of motion after
    /// still frames.
    private static let burst = 2.0
    /// The tolerance of the keyframe interval in seconds.
    private static let keyTolerance = 0.1

    /// Returns every violated rule; unknown figures violate none.
    ///
    /// - Parameter isSecure: Whether the stream is pushed over TLS.
    func issues(of figures: StreamProperties, isSecure: Bool) -> [ComplianceIssue] {
        var found: [ComplianceIssue] = []
        if needsTLS, !isSecure {
            found.append(ComplianceIssue(.transport, "\(platform.rawValue) takes streams by rtmps:// only"))
        }
        found += ofSize(figures) + videoIssues(figures) + audioIssues(figures)
        if let duration = figures.duration, let longestDuration, duration > longestDuration {
            let hours = "\(Int((duration / 3600).rounded())) hours"
            let most = "\(Int(longestDuration / 3600)) are the most for \(platform.rawValue)"
            found.append(ComplianceIssue(.duration, "the livestream may last \(hours); \(most)"))
        }
        return found
    }

    private func ofSize(_ figures: StreamProperties) -> [ComplianceIssue] {
        guard let width = figures.width, let height = figures.height else { return [] }
        let rate = figures.frameRate ?? 30
        let name = "\(width)x\(height) at \(Int(rate.rounded())) fps"
        guard let step = step(lines: min(width, height), frameRate: rate) else {
            return [ComplianceIssue(.size, "\(name) is more than suits \(platform.rawValue)")]
        }
        return ofBitrate(figures, name: name, step: step)
    }

    private func ofBitrate(_ figures: StreamProperties, name: String, step: Step) -> [ComplianceIssue] {
        guard let bitrate = figures.videoBitrate else { return [] }
        let slack = Self.bitrateTolerance
        let name = "for \(name)"
        let found = "the video has \(Int(bitrate.rounded())) kb/s"
        var result: [ComplianceIssue] = []
        if bitrate > step.bitrate.upperBound * (1 + slack) {
            let most = Int(step.bitrate.upperBound)
            result.append(
                ComplianceIssue(.videoBitrate, "\(found); \(name) \(most) is the most for \(platform.rawValue)")
            )
        } else if bitrate < step.bitrate.lowerBound * (1 - slack) {
            let least = Int(step.bitrate.lowerBound)
            result.append(
                ComplianceIssue(.videoBitrate, "\(found); \(name) \(least) is the least for \(platform.rawValue)")
            )
        } else if let peak = figures.peakVideoBitrate, peak > step.bitrate.upperBound * Self.burst {
            let most = "\(name) \(Int(step.bitrate.upperBound)) is the most, evenly, for \(platform.rawValue)"
            result.append(
                ComplianceIssue(.rateControl, "the video has up to \(Int(peak.rounded())) kb in a second; \(most)")
            )
        }
        return result
    }

    private func videoIssues(_ figures: StreamProperties) -> [ComplianceIssue] {
        var found: [ComplianceIssue] = []
        if let codec = figures.videoCodec, codec != .h264 {
            found.append(ComplianceIssue(.videoCodec, "the video is \(codec.rawValue) and should be H.264"))
        }
        if let interval = figures.keyInterval, interval > longestKeyInterval + Self.keyTolerance {
            let tenths = (interval * 10).rounded() / 10
            let most = "the longest for \(platform.rawValue) is \(longestKeyInterval) s"
            found.append(ComplianceIssue(.keyInterval, "keyframes are \(tenths) s apart; \(most)"))
        }
        if let profile = figures.profile, !profiles.contains(profile) {
            found.append(ComplianceIssue(.profile, "the video has H.264 profile \(profile) and should be Main or High"))
        }
        if let level = figures.level, let highestLevel, level > highestLevel {
            let most = "\(Double(highestLevel) / 10) is the highest for \(platform.rawValue)"
            found.append(ComplianceIssue(.level, "the video has H.264 level \(Double(level) / 10); \(most)"))
        }
        if figures.hasChanged == true, !takesChanges {
            found.append(
                ComplianceIssue(.change, "the video changed its format, which \(platform.rawValue) does not take")
            )
        }
        if let reordered = figures.reorderedFrames, reordered > maximumReorderedFrames {
            let most = "\(maximumReorderedFrames) are the most for \(platform.rawValue)"
            found.append(ComplianceIssue(.reordering, "the video has \(reordered) B-frames in a row; \(most)"))
        }
        return found
    }

    private func audioIssues(_ figures: StreamProperties) -> [ComplianceIssue] {
        var found: [ComplianceIssue] = []
        if let codec = figures.audioCodec, !audioCodecs.contains(codec) {
            found.append(ComplianceIssue(.audioCodec, "the audio is \(codec.rawValue) and should be AAC"))
        }
        if let rate = figures.sampleRate, !sampleRates.contains(rate) {
            found.append(
                ComplianceIssue(.sampleRate, "the audio has \(rate) Hz and should have 44100 or 48000")
            )
        }
        if let channels = figures.channels, channels > 2 {
            found.append(ComplianceIssue(.channels, "the audio has \(channels) channels and should have 2"))
        }
        if let bitrate = figures.audioBitrate, bitrate > highestAudioBitrate * (1 + Self.bitrateTolerance) {
            let most = "\(Int(highestAudioBitrate)) is the most for \(platform.rawValue)"
            found.append(ComplianceIssue(.audioBitrate, "the audio has \(Int(bitrate.rounded())) kb/s; \(most)"))
        }
        return found
    }
}

/// The platform of an output's target, by its host name.
enum Platform: String, Sendable, Equatable, CaseIterable {
    case youtube = "YouTube"
    case twitch = "Twitch"
    case facebook = "Facebook"
    case x = "X"
    case trovo = "Trovo"
    case nimo = "Nimo TV"
    case dlive = "DLive"
    case mux = "Mux"
    case restream = "Restream"
    case castr = "Castr"
    case livepush = "Livepush"
    /// A channel of Amazon IVS, or of a platform that is built on it.
    case ivs = "Amazon IVS"
    /// Any other server; the rules are common to all large platforms.
    case unknown = "every large platform"

    init(host: String) {
        let name = host.lowercased().trimmingSuffix(".")
        func belongs(to domains: String...) -> Bool {
            domains.contains { name == $0 || name.hasSuffix("." + $0) }
        }
        self =
            if belongs(to: "youtube.com") {
                .youtube
            } else if belongs(to: "live-video.net") {
                Self.liveVideo(name)
            } else if belongs(to: "twitch.tv") {
                .twitch
            } else if belongs(to: "facebook.com", "fbcdn.net") {
                .facebook
            } else {
                Self.others.first { belongs(to: $0.domain) }?.platform ?? .unknown
            }
    }
}

extension Platform {
    /// The ingest domains; a relay in front of a platform has its own rules.
    private static let others: [(domain: String, platform: Platform)] = [
        ("pscp.tv", .x), ("trovo.live", .trovo), ("nimo.tv", .nimo), ("dlive.tv", .dlive), ("mux.com", .mux),
        ("restream.io", .restream), ("castr.io", .castr), ("livepush.io", .livepush),
    ]

    /// Returns Twitch or IVS, which share their ingest machines.
    ///
    /// An IVS channel has its own name below the global ingest domain, where Twitch has only one. The ingest points of
    /// single cities serve both, so Twitch's stricter rules apply to them.
    private static func liveVideo(_ name: String) -> Platform {
        let shared = "ingest.global-contribute.live-video.net"
        return name != shared && name.hasSuffix(".global-contribute.live-video.net") ? .ivs : .twitch
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: Character) -> String {
        last == suffix ? String(dropLast()) : self
    }
}

/// One violated requirement of a platform.
struct ComplianceIssue: Sendable, Hashable {
    /// The subject of the requirement.
    enum Kind: String, Sendable, Hashable, CaseIterable {
        case transport
        case size
        case frameRate
        case videoBitrate
        case rateControl
        case keyInterval
        case videoCodec
        case profile
        case level
        case change
        case reordering
        case audioCodec
        case sampleRate
        case channels
        case audioBitrate
        case duration

        /// Whether the requirement is the platform's, rather than the configured stream.
        var isOfPlatform: Bool { self != .frameRate }
    }

    var kind: Kind
    /// A description for display.
    var message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}
