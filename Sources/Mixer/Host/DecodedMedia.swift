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
    /// Nothing of the host may be seen: its pictures are counted, and none is kept.
    private var isConcealed = false
    /// Pictures up to this time, in the host's milliseconds, came while nothing of the host was to be seen.
    private var concealedUntil = Int64.min
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
        guard !isConcealed, picture.presentationTimestamp > concealedUntil else { return }
        if pictures.count == Self.mostPictures {
            _ = pictures.popFirst()
            overflowed += 1
        }
        pictures.append(picture)
    }

    /// From now on nothing of the host may be seen; what is kept of it is let go.
    mutating func conceal() {
        isConcealed = true
        pictures.removeAll()
    }

    /// What comes from now on may be seen.
    ///
    /// - Parameter newest: The last picture that has come already, decoded or not, in the host's milliseconds.
    mutating func reveal(after newest: Int64?) {
        isConcealed = false
        if let newest { concealedUntil = newest }
    }
}
