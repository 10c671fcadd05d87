import Codecs

/// A host's decoded pictures and sound between its decode thread and the program's thread; lives under a lock.
struct DecodedMedia: ~Copyable, Sendable {
    /// Pictures kept at most; decoding runs only a little ahead, so more than a few are late already.
    private static let mostPictures = 32

    var pictures = Fifo<Picture>()
    /// What is decoded of a host that comes back from no tile; nobody sees it until all of it is there.
    ///
    /// Empty at all other times.
    private var apart = Fifo<Picture>()
    /// The host comes back from no tile.
    private var isApart = false
    /// Up to which of its returns from no tile all that had waited is decoded.
    var returns = 0
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
        overflowed += isApart ? Self.append(picture, to: &apart) : Self.append(picture, to: &pictures)
    }

    /// Returns how many had to go for it.
    private static func append(_ picture: Picture, to queue: inout Fifo<Picture>) -> Int64 {
        var gone: Int64 = 0
        if queue.count == mostPictures, queue.popFirst() != nil { gone = 1 }
        queue.append(picture)
        return gone
    }

    /// From now on pictures are put aside, until `join`.
    mutating func setApart() { isApart = true }

    /// What was put aside takes the place of what was there before.
    mutating func join() {
        guard isApart else { return }
        isApart = false
        swap(&pictures, &apart)
        apart.removeAll()
    }

    /// A key picture comes of a host in no tile: of those before it only the last may still be the present one.
    mutating func letGoHidden() {
        guard !isApart else { return apart.removeAll() }
        while pictures.count > 1 { _ = pictures.popFirst() }
    }

    /// From now on nothing of the host may be seen; what is kept of it is let go.
    mutating func conceal() {
        isConcealed = true
        pictures.removeAll()
        apart.removeAll()
    }

    /// What comes from now on may be seen.
    ///
    /// - Parameter newest: The last picture that has come already, decoded or not, in the host's milliseconds.
    mutating func reveal(after newest: Int64?) {
        isConcealed = false
        if let newest { concealedUntil = newest }
    }
}
