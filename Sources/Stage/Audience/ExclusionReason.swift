/// The reason why a playback request or session does not count.
public enum ExclusionReason: String, Sendable, Hashable, CaseIterable {
    /// A HEAD request.
    case head
    /// The token of a relay, a monitor or a thumbnail generator.
    case role
    /// A prefetch by a browser.
    case prefetch
    /// The user agent of a crawler or link previewer.
    case agent
    /// A session that ended before it qualified.
    case unqualified
    /// A session beyond the limit of a viewer or an address.
    case surplus
    /// A session that requested playlists but no media.
    case noMedia = "no_media"
}
