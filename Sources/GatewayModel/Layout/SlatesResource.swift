/// A slate for each occasion; null is the plain one.
public struct SlatesResource: Codable, Sendable, Hashable {
    /// Before the show.
    @ExplicitNull public var startingSoon: SlateResource?
    /// Backstage in the middle of a show, and while no host is there.
    @ExplicitNull public var beRightBack: SlateResource?
    /// After the show.
    @ExplicitNull public var ended: SlateResource?

    /// Makes slates; the plain ones unless said.
    public init(startingSoon: SlateResource? = nil, beRightBack: SlateResource? = nil, ended: SlateResource? = nil) {
        self.startingSoon = startingSoon
        self.beRightBack = beRightBack
        self.ended = ended
    }

    private enum CodingKeys: String, CodingKey {
        case startingSoon = "starting_soon"
        case beRightBack = "be_right_back"
        case ended
    }
}
