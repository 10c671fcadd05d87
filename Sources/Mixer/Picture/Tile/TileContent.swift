import Codecs

/// What a tile shows of its host.
struct TileContent {
    /// Nil while there is nothing to see but the card.
    var picture: Picture?
    /// Identifies the picture among all of the host's; 0 stands for none.
    var serial: Int64
    /// How picture and card are painted.
    var look: PicturePresence.Look

    /// Nothing of the host: its card.
    static let absent = TileContent(picture: nil, serial: 0, look: .absent)

    /// A picture as it is.
    init(picture: Picture?, serial: Int64, look: PicturePresence.Look = .init(dim: 0, card: 0)) {
        self.picture = picture
        self.serial = serial
        self.look = picture == nil ? .absent : look
    }
}
