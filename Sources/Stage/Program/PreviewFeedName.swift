/// The name of a room's preview feed: `ROOM.preview`, what would be on air while the room is backstage.
///
/// Room names contain no dot, so a feed name is never a room's.
public struct PreviewFeedName: Sendable, Hashable {
    private static let suffix = ".preview"

    /// The room's unique name.
    public let room: String

    /// Creates the name of a room's preview.
    public init(room: String) {
        self.room = room
    }

    /// Parses a feed name; nil if it is not a preview's.
    public init?(_ text: String) {
        guard Self.isName(text) else { return nil }
        let room = text.dropLast(Self.suffix.count)
        guard !room.isEmpty, !room.contains(".") else { return nil }
        self.init(room: String(room))
    }

    /// Whether a text ends like the name of a preview.
    public static func isName(_ text: String) -> Bool { text.hasSuffix(suffix) }

    /// The feed name.
    public var text: String { room + Self.suffix }
}
