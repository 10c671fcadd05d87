/// The name of a rendition's feed: `ROOM.rendition.NAME`.
///
/// Room names hold no dot, so such a name never is a room's. Players ask for `ROOM_NAME`, which could be one.
public struct RenditionFeedName: Sendable, Hashable {
    /// The room's unique name.
    public let room: String
    /// Such as `720p`.
    public let rendition: String

    /// Names the feed of a room's rendition.
    public init(room: String, rendition: String) {
        self.room = room
        self.rendition = rendition
    }

    /// Reads a feed's name; nil for one that is no rendition's.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1] == "rendition", !parts[0].isEmpty, !parts[2].isEmpty else { return nil }
        self.init(room: String(parts[0]), rendition: String(parts[2]))
    }

    /// Reads a name as players and mixers give it, such as `show_720p`; nil for one without an underscore.
    public init?(played text: String) {
        guard let mark = text.lastIndex(of: "_"), mark != text.startIndex else { return nil }
        let rendition = text[text.index(after: mark)...]
        guard !rendition.isEmpty else { return nil }
        self.init(room: String(text[..<mark]), rendition: String(rendition))
    }

    /// The name of the feed.
    public var text: String { "\(room).rendition.\(rendition)" }

    /// The name under which it is played.
    public var played: String { "\(room)_\(rendition)" }
}
