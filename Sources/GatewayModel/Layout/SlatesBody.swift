/// A slate for each occasion; what is left out stays as it is, null is the plain one again.
public struct SlatesBody: Codable, Sendable, Hashable {
    /// Before the show.
    public var startingSoon: ExplicitNull<SlateResource>?
    /// Backstage in the middle of a show, and while no host is there.
    public var beRightBack: ExplicitNull<SlateResource>?
    /// After the show.
    public var ended: ExplicitNull<SlateResource>?

    /// Makes a body; what is left out is nil.
    public init(
        startingSoon: ExplicitNull<SlateResource>? = nil,
        beRightBack: ExplicitNull<SlateResource>? = nil,
        ended: ExplicitNull<SlateResource>? = nil
    ) {
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
