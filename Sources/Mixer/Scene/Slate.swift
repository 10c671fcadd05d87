/// The full-canvas card of a program that shows no host.
public struct Slate: Sendable, Hashable, Codable {
    /// The reason for a slate.
    public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
        case startingSoon
        case beRightBack
        case ended
    }

    /// The reason for the slate.
    public var kind: Kind
    /// The text; nil uses the default text of the kind.
    public var text: String?
    /// The asset that fills the canvas; nil shows the background.
    public var image: String?
    /// The asset that is played in a loop; nil is silence.
    public var music: String?

    /// Makes a slate.
    public init(kind: Kind, text: String? = nil, image: String? = nil, music: String? = nil) {
        self.kind = kind
        self.text = text
        self.image = image
        self.music = music
    }
}
