import Media
import Stage

/// Whose connection it is, as far as the playlists that were asked for on it tell.
///
/// Segments name no viewer, so that all may share them. On a player's own connection they are that player's; on one that
/// a proxy uses for many, which shows by their playlists, they are nobody's.
enum ConnectionViewer {
    case nobody
    case one(ViewerSession)
    case several

    /// The one viewer's.
    var sid: String? {
        if case .one(let viewer) = self { viewer.sid } else { nil }
    }

    /// Something of `bytes` was answered.
    ///
    /// - Returns: Whether it was media.
    mutating func note(_ response: MediaResponse, bytes: Int) -> Bool {
        if let viewer = response.viewer {
            switch self {
            case .nobody: self = .one(viewer)
            case .one(let known) where known.sid != viewer.sid: self = .several
            case .one, .several: break
            }
            return false
        }
        guard response.allowsRanges, bytes > 0 else { return false }
        if case .one(let viewer) = self { viewer.record(.delivered, at: .now(), bytes: bytes) }
        return true
    }
}
