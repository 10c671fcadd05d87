/// What the program's own thread was told, as a recording of arrivals keeps it.
enum ArrivalChange: Sendable, Equatable, Codable {
    /// The input of this number takes part from here on.
    case add(Int)
    /// The host of this id leaves.
    case remove(String)
    /// This is shown and heard, as far as the step allows that the program is on.
    case scene(Scene)
    /// The program does without what this step leaves out, and nothing else, from here on.
    case degrade(Degradation)
    /// A host's media is held back so many milliseconds from here on.
    case jitterTarget(String, Int)
    /// The file of this number is there from here on.
    case provide(Int)
    /// These have been drawn, and are seen from here on.
    case drawn([Wardrobe.Piece])
    /// Whether the music of the slate is decoded far enough to be played from here on.
    case music(Bool)
    /// What this host missed while it was in no tile has been decoded, and is seen from here on.
    case caughtUp(String)
}
