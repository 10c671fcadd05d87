/// The tracks a host can have, one of each.
public enum TrackName: String, Sendable, Hashable, Codable, CaseIterable {
    case mic
    case camera
    case screen

    /// Whether the track is heard or seen.
    public var kind: TrackKind { self == .mic ? .audio : .video }
}
