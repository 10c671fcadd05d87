/// Why something that asked for playback does not count.
public enum Exclusion: String, Sendable, Hashable, CaseIterable {
    /// Only the head of an answer was asked for.
    case head
    /// Its token is that of a relay, a monitor or a maker of thumbnails.
    case role
    /// A browser that fetched ahead of anybody wanting to watch.
    case prefetch
    /// Calls itself something that previews links or crawls.
    case agent
    /// Left before it was proven to watch.
    case unqualified
    /// One more session of a viewer, or of an address, that has as many as one may.
    case surplus
    /// It asked for playlists as a viewer does, and never for media.
    case noMedia = "no_media"
}
