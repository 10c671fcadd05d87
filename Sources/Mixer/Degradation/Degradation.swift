/// What a program does without when its machine is short of processor time, each step on top of those before it.
///
/// The sound, and the size of the picture, stay what they are on every step.
public enum Degradation: Int, Sendable, Comparable, CaseIterable, Codable {
    /// Nothing.
    case none
    /// Some of the search of the program's coder and the renditions'.
    case lighterCoding
    /// Nearly all of that search.
    case lightestCoding
    /// Those pictures that no other picture refers to, of all but the first tile and who speaks.
    case lighterDecoding
    /// One picture of three.
    case fewerPictures
    /// The moving pictures of all but the first tiles and who speaks.
    case fewerTiles
    /// The renditions beside the program.
    case noRenditions
    /// The hosts' pictures; a slate is shown.
    case slate

    /// Tiles that keep their pictures on step `fewerTiles`.
    static let keptTiles = 4

    /// Earlier steps are smaller.
    public static func < (left: Degradation, right: Degradation) -> Bool { left.rawValue < right.rawValue }

    /// 0 for nothing to 6; the two steps of the coder are both 1.
    public var level: Int { max(rawValue - (self >= .lightestCoding ? 1 : 0), 0) }

    /// The step up.
    var worse: Degradation? { Degradation(rawValue: rawValue + 1) }
    /// The step down.
    var better: Degradation? { Degradation(rawValue: rawValue - 1) }

    /// How much of its search the coder leaves out: 0 to 2.
    var codingEconomy: Int { min(rawValue, 2) }
}
