/// The cost of one run of the mixer, in processor seconds per second of program.
struct MixFigures {
    var decode = 0.0
    var compose = 0.0
    var encode = 0.0
    /// Decoding, mixing and encoding of audio.
    var audio = 0.0
    /// The part of `audio` that is decoding.
    var audioDecoding = 0.0
    /// The part of `audio` that is encoding.
    var audioEncoding = 0.0
    /// Everything else in the process, including reading the hosts' packets.
    var rest = 0.0
    /// `shareOutsideCodecs` without the first two seconds, in which the hosts' packets are read from files, overlays
    /// are drawn and most memory is touched for the first time.
    var laterShareOutsideCodecs = 0.0

    var total: Double { decode + compose + encode + audio + rest }

    /// Mixing, limiting and all other audio processing between the codecs.
    var mixing: Double { max(audio - audioDecoding - audioEncoding, 0) }

    /// The share that is neither decoding nor encoding of video or audio.
    var shareOutsideCodecs: Double { (compose + rest + mixing) / total }

    private static var parts: [WritableKeyPath<MixFigures, Double>] {
        [\.decode, \.compose, \.encode, \.audio, \.audioDecoding, \.audioEncoding, \.rest]
    }

    /// Returns the difference from `earlier` figures of the same run.
    func since(_ earlier: MixFigures) -> MixFigures {
        var result = MixFigures()
        for part in Self.parts { result[keyPath: part] = self[keyPath: part] - earlier[keyPath: part] }
        return result
    }

    /// Returns the figures of a whole run per second.
    func perSecond(_ seconds: Double) -> MixFigures {
        var result = MixFigures()
        for part in Self.parts { result[keyPath: part] = self[keyPath: part] / seconds }
        return result
    }
}

/// The maximum cost of a mix of 720p30 hosts, relative to ffmpeg's; nil where there is no goal.
struct MixGoals {
    /// The ratio to ffmpeg's processor time, with equal codec options.
    var equal: Double?
    /// The ratio to ffmpeg's processor time, with Footlight's defaults.
    var defaults: Double?
    /// The share of everything except decoding and encoding, in percent.
    var outsideCodecs: Double?

    init(hosts: Int, size: ProgramSize) {
        guard size.width == 1280, size.height == 720 else { return }
        switch hosts {
        case 4: (equal, defaults, outsideCodecs) = (0.88, 0.70, 4)
        case 9: defaults = 0.65
        default: break
        }
    }

    /// Returns a value, with its goal and whether it is met.
    static func text(_ value: Double, _ goal: Double?, digits: Int) -> String {
        goal.map { verdict(value, atMost: $0, digits: digits) } ?? value.text(digits)
    }
}
