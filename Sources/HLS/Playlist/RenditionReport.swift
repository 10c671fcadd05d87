/// How far another rendition's playlist is, so that a player who changes to it asks for the right part at once.
public struct RenditionReport: Sendable, Equatable {
    /// Address of its media playlist, relative to the playlist that carries the report, percent-encoded.
    public var uri: String
    /// The newest part that it lists.
    public var last: PartPosition

    /// Makes one from its parts.
    public init(uri: String, last: PartPosition) {
        self.uri = uri
        self.last = last
    }
}
