import Codecs

/// A host's decoded pictures and sound between its decode thread and the program's thread; lives under a lock.
struct DecodedMedia: ~Copyable, Sendable {
    /// Pictures kept at most; decoding runs only a little ahead, so more than a few are late already.
    private static let mostPictures = 32

    var pictures = Fifo<Picture>()
    var sound = SoundTrack()
    var pictureCount: Int64 = 0
    /// Pictures that came while the host was in no tile, and were not decoded.
    var hiddenPictures: Int64 = 0
    private(set) var overflowed: Int64 = 0
    var decodeErrors: Int64 = 0
    var decodeSeconds = 0.0
    /// Spent on making pictures smaller while they were decoded.
    var reducingSeconds = 0.0
    var soundSeconds = 0.0
    /// Processor seconds of the whole decode thread.
    var threadSeconds = 0.0

    init() {}

    mutating func append(_ picture: Picture) {
        pictureCount += 1
        if pictures.count == Self.mostPictures {
            _ = pictures.popFirst()
            overflowed += 1
        }
        pictures.append(picture)
    }
}
