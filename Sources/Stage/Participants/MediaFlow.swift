/// One publishing connection of a host, and what it carries.
struct MediaFlow: Sendable {
    /// The number of the connection.
    var connection: UInt64
    var media = PublishedMedia()
    /// The connection is open, but nothing comes.
    var isSilent = false

    /// Something comes.
    var isFlowing: Bool { media.hasVideo || media.hasAudio }
    /// The connection has not sent anything yet, and still has time to begin.
    var isPending: Bool { !isFlowing && !isSilent }
}

extension PublishedMedia {
    /// Whether media of a track is in it; `name` must be one that the connection stands for.
    func carries(_ name: TrackName) -> Bool {
        name == .mic ? hasAudio : hasVideo
    }
}
