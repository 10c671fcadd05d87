/// What the program is while it shows nobody.
public struct Slate: Sendable, Hashable, Codable {
    /// Why nobody is shown.
    public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
        case startingSoon
        case beRightBack
        case ended
    }

    /// Why nobody is shown.
    public var kind: Kind
    /// What it says; nil says what its kind does.
    public var text: String?
    /// The asset that fills the canvas; nil shows the background.
    public var image: String?
    /// The asset that is played; nil is silence.
    public var music: String?

    /// Makes a slate.
    public init(kind: Kind, text: String? = nil, image: String? = nil, music: String? = nil) {
        self.kind = kind
        self.text = text
        self.image = image
        self.music = music
    }
}
