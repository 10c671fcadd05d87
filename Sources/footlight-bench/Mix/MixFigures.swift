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

    var total: Double { decode + compose + encode + sound + rest }

    /// What mixing and limiting sound, and all else that is done with it between the codecs, takes.
    var mixing: Double { max(sound - soundDecoding - soundCoding, 0) }

    /// The share of what is neither decoding nor encoding, of picture or sound.
    var shareOutsideCodecs: Double { (compose + rest + mixing) / total }
}
