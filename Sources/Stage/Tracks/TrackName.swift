/// The tracks a host can have, one of each.
public enum TrackName: String, Sendable, Hashable, Codable, CaseIterable {
    case mic
    case camera
    case screen

    /// Reads a name as clients write it; `microphone` is taken for `mic`.
    ///
    /// - Throws: 53303 for characters that no name has, 53301 for a name that is none of the three.
    public init(wireName: String) throws(StageError) {
        if wireName == "microphone" {
            self = .mic
        } else if let name = TrackName(rawValue: wireName) {
            self = name
        } else if NameRule.check(wireName) == .wrongCharacters {
            throw .trackNameCharactersInvalid
        } else {
            throw .trackNameInvalid
        }
    }

    /// Whether the track is heard or seen.
    public var kind: TrackKind { self == .mic ? .audio : .video }

    /// The connection that carries the track.
    var source: PublishSource { self == .screen ? .screen : .camera }
}
