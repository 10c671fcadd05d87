import Media
import Stage

extension PlatformRules {
    /// Part by which a bitrate may be off: encoders and measurements are.
    private static let bitrateTolerance = 0.1
    /// How many times the most of a size a single second may have: a key picture falls into it, and a moving one after
    /// many that stood still.
    private static let burst = 2.0
    /// Seconds by which a key picture may come late.
    private static let keyTolerance = 0.1

    /// Everything about a stream that the platform does not want so; what is not known is not held against it.
    ///
    /// - Parameter isSecure: It is pushed over TLS.
    func shortfalls(of figures: StreamFigures, isSecure: Bool) -> [Shortfall] {
        var found: [Shortfall] = []
        if needsTLS, !isSecure {
            found.append(Shortfall(.transport, "\(platform.rawValue) takes streams by rtmps:// only"))
        }
        found += ofSize(figures) + ofPictures(figures) + ofSound(figures)
        if let duration = figures.duration, let longestDuration, duration > longestDuration {
            let hours = "\(Int((duration / 3600).rounded())) hours"
            let most = "\(Int(longestDuration / 3600)) are the most for \(platform.rawValue)"
            found.append(Shortfall(.duration, "the livestream may last \(hours); \(most)"))
        }
        return found
    }

    private func ofSize(_ figures: StreamFigures) -> [Shortfall] {
        guard let width = figures.width, let height = figures.height else { return [] }
        let rate = figures.frameRate ?? 30
        let name = "\(width)x\(height) at \(Int(rate.rounded())) pictures a second"
        guard let step = step(lines: min(width, height), frameRate: rate) else {
            return [Shortfall(.size, "\(name) is more than suits \(platform.rawValue)")]
        }
        return ofBitrate(figures, name: name, step: step)
    }

    private func ofBitrate(_ figures: StreamFigures, name: String, step: Step) -> [Shortfall] {
        guard let bitrate = figures.videoBitrate else { return [] }
        let slack = Self.bitrateTolerance
        let name = "for \(name)"
        let found = "the video has \(Int(bitrate.rounded())) kb/s"
        var result: [Shortfall] = []
        if bitrate > step.bitrate.upperBound * (1 + slack) {
            let most = Int(step.bitrate.upperBound)
            result.append(Shortfall(.videoBitrate, "\(found); \(name) \(most) is the most for \(platform.rawValue)"))
        } else if bitrate < step.bitrate.lowerBound * (1 - slack) {
            let least = Int(step.bitrate.lowerBound)
            result.append(Shortfall(.videoBitrate, "\(found); \(name) \(least) is the least for \(platform.rawValue)"))
        } else if let peak = figures.peakVideoBitrate, peak > step.bitrate.upperBound * Self.burst {
            let most = "\(name) \(Int(step.bitrate.upperBound)) is the most, evenly, for \(platform.rawValue)"
            result.append(
                Shortfall(.rateControl, "the video has up to \(Int(peak.rounded())) kb in a second; \(most)")
            )
        }
        return result
    }

    private func ofPictures(_ figures: StreamFigures) -> [Shortfall] {
        var found: [Shortfall] = []
        if let codec = figures.videoCodec, codec != .h264 {
            found.append(Shortfall(.videoCodec, "the video is \(codec.rawValue) and should be H.264"))
        }
        if let interval = figures.keyInterval, interval > longestKeyInterval + Self.keyTolerance {
            let tenths = (interval * 10).rounded() / 10
            let most = "the longest for \(platform.rawValue) is \(longestKeyInterval) s"
            found.append(Shortfall(.keyInterval, "key pictures are \(tenths) s apart; \(most)"))
        }
        if let profile = figures.profile, !profiles.contains(profile) {
            found.append(Shortfall(.profile, "the video has H.264 profile \(profile) and should be Main or High"))
        }
        if let level = figures.level, let highestLevel, level > highestLevel {
            let most = "\(Double(highestLevel) / 10) is the highest for \(platform.rawValue)"
            found.append(Shortfall(.level, "the video has H.264 level \(Double(level) / 10); \(most)"))
        }
        if figures.hasChanged == true, !takesChanges {
            found.append(Shortfall(.change, "the video changed its format, which \(platform.rawValue) does not take"))
        }
        if let reordered = figures.reorderedPictures, reordered > mostReorderedPictures {
            let most = "\(mostReorderedPictures) are the most for \(platform.rawValue)"
            found.append(Shortfall(.reordering, "the video has \(reordered) B-frames in a row; \(most)"))
        }
        return found
    }

    private func ofSound(_ figures: StreamFigures) -> [Shortfall] {
        var found: [Shortfall] = []
        if let codec = figures.audioCodec, !audioCodecs.contains(codec) {
            found.append(Shortfall(.audioCodec, "the sound is \(codec.rawValue) and should be AAC"))
        }
        if let rate = figures.sampleRate, !sampleRates.contains(rate) {
            found.append(
                Shortfall(.sampleRate, "the sound has \(rate) samples a second and should have 44100 or 48000")
            )
        }
        if let channels = figures.channels, channels > 2 {
            found.append(Shortfall(.channels, "the sound has \(channels) channels and should have 2"))
        }
        if let bitrate = figures.audioBitrate, bitrate > highestAudioBitrate * (1 + Self.bitrateTolerance) {
            let most = "\(Int(highestAudioBitrate)) is the most for \(platform.rawValue)"
            found.append(Shortfall(.audioBitrate, "the sound has \(Int(bitrate.rounded())) kb/s; \(most)"))
        }
        return found
    }
}
