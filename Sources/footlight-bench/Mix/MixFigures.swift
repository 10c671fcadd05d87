/// What one run of the mixer cost, in processor seconds per second of program.
struct MixFigures {
    var decode = 0.0
    var compose = 0.0
    var encode = 0.0
    /// Decoding, mixing and coding of sound.
    var sound = 0.0
    /// The part of `sound` that is decoding.
    var soundDecoding = 0.0
    /// Everything else the process did, reading the hosts' packets included.
    var rest = 0.0

    var total: Double { decode + compose + encode + sound + rest }

    /// The share of what is neither decoding nor encoding, of picture or sound.
    ///
    /// - Parameter soundCoding: What coding the program's sound costs by itself, in seconds per second.
    func shareOutsideCodecs(soundCoding: Double) -> Double {
        (compose + rest + max(sound - soundDecoding - soundCoding, 0)) / total
    }
}
