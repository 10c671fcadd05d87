/// What the program's own thread was told, as a recording of arrivals keeps it.
enum ArrivalChange: Sendable, Equatable, Codable {
    /// The input of this number takes part from here on.
    case add(Int)
    /// The host of this id leaves.
    case remove(String)
    case scene(Scene)
    /// A host's media is held back so many milliseconds from here on.
    case jitterTarget(String, Int)
    /// These have been drawn, and are seen from here on.
    case drawn([Overlay])
}
