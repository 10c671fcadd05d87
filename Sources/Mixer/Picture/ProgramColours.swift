public import Codecs

/// The colours of the program where no host's picture is.
public enum ProgramColours {
    /// Between and around the tiles, and the whole slate when nobody is on air: nearly black.
    public static let background = YUVColour(red: 16, green: 16, blue: 18)
    /// A tile whose host has no picture: dark grey.
    public static let emptyTile = YUVColour(red: 52, green: 52, blue: 56)
}
