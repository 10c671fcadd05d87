/// How a picture is fitted into its tile.
public enum VideoScaleMode: Sendable, Hashable {
    /// The whole picture is seen, with bars where it is narrower or lower than the tile.
    case fit
    /// The tile is covered; what juts out is cropped.
    case fill
}
