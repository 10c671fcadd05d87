/// What the watch page tells everybody of a room.
public struct PageAudience: Sendable, Equatable {
    /// The program can be played now.
    public var isOnAir: Bool
    /// How many watch, by every protocol.
    public var viewers: Int

    /// Makes one from its parts.
    public init(isOnAir: Bool, viewers: Int) {
        self.isOnAir = isOnAir
        self.viewers = viewers
    }
}
