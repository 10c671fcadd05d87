/// Which way a canvas is longer.
public enum Orientation: String, Sendable, Hashable, Codable, CaseIterable {
    case landscape
    case portrait

    /// Portrait when `width` is less than `height`; a square is landscape.
    public init(width: Int, height: Int) {
        self = width < height ? .portrait : .landscape
    }
}
