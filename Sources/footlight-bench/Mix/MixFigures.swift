/// What one run of the mixer cost, in processor seconds per second of program.
struct MixFigures {
    var decode = 0.0
    var compose = 0.0
    var encode = 0.0
    /// Decoding, mixing and coding of sound.
    var sound = 0.0
    /// The part of `sound` that is decoding.
    var soundDecoding = 0.0
    /// The part of `sound` that is coding the program's.
    var soundCoding = 0.0
    /// Everything else the process did, reading the hosts' packets included.
    var rest = 0.0
    /// `shareOutsideCodecs` without the first two seconds, in which the hosts' packets are read from files, what lies over
    /// the tiles is drawn and most memory is touched for the first time.
    var laterShareOutsideCodecs = 0.0

    var total: Double { decode + compose + encode + sound + rest }

    /// What mixing and limiting sound, and all else that is done with it between the codecs, takes.
    var mixing: Double { max(sound - soundDecoding - soundCoding, 0) }

    /// The share of what is neither decoding nor encoding, of picture or sound.
    var shareOutsideCodecs: Double { (compose + rest + mixing) / total }

    private static var parts: [WritableKeyPath<MixFigures, Double>] {
        [\.decode, \.compose, \.encode, \.sound, \.soundDecoding, \.soundCoding, \.rest]
    }

    /// What came on top of `earlier` figures of the same run.
    func since(_ earlier: MixFigures) -> MixFigures {
        var result = MixFigures()
        for part in Self.parts { result[keyPath: part] = self[keyPath: part] - earlier[keyPath: part] }
        return result
    }

    /// Of figures for a whole run those for each of its `seconds`.
    func perSecond(_ seconds: Double) -> MixFigures {
        var result = MixFigures()
        for part in Self.parts { result[keyPath: part] = self[keyPath: part] / seconds }
        return result
    }
}
