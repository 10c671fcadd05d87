/// What is said about a tile's host, whatever its picture is.
struct TileWords: Sendable, Hashable {
    /// The display name.
    var name: String
    var isMicOn: Bool
    /// The asset that stands for the host while it is not seen.
    var avatar: String?
    /// A small tile beside a large one: it says only that a microphone is off, by a badge.
    var isInStrip: Bool
    var showsName: Bool
    var showsMicrophone: Bool
}
