/// What a track is made of.
public enum TrackKind: String, Sendable, Hashable, Codable {
    case audio
    case video
}
