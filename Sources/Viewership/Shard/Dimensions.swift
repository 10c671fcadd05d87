public import Stage

/// By what viewers are told apart within a room.
public struct Dimensions: Sendable, Hashable {
    /// How they watch.
    public var playback: PlaybackProtocol
    /// Which rendition; empty for the program as it is.
    public var rendition: String
    /// From where: ISO codes; empty where nobody knows.
    public var region: String
    /// With what.
    public var client: ClientClass

    /// One place in the dimensions.
    public init(
        playback: PlaybackProtocol,
        rendition: String = "",
        region: String = "",
        client: ClientClass = .unknown
    ) {
        self.playback = playback
        self.rendition = rendition
        self.region = region
        self.client = client
    }
}
