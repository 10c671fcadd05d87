import Codecs

/// What is drawn for a tile beside its host's picture; each is drawn once and then laid over.
struct TileDress {
    /// Stands for a host that is not seen.
    var card: Picture?
    /// The name and the microphone; lies at the bottom left.
    var tag: OverlayPicture?
    /// Says that the microphone is off; lies at the bottom right.
    var badge: OverlayPicture?
    /// Another dress has another number, so that a canvas knows what it shows.
    var number = 0

    /// Nothing at all.
    static let none = TileDress()

    func looksLike(_ other: TileDress) -> Bool {
        card === other.card && tag === other.tag && badge === other.badge
    }
}
