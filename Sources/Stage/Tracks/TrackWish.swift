/// What a host, or an operator for it, has said of one track through the API.
///
/// The wish outlives the encoder's connection: a muted host whose encoder reconnects stays muted.
public enum TrackWish: Sendable, Hashable, Codable {
    /// Nothing: media that arrives publishes the track, and the end of its connection unpublishes it.
    case automatic
    /// Published, muted or not, whether media arrives or not.
    case wanted(isEnabled: Bool)
    /// Unpublished: media that arrives is dropped until the track is published again.
    case withdrawn

    /// Whether media may go into the host's feed.
    var passesMedia: Bool {
        switch self {
        case .automatic, .wanted(isEnabled: true): true
        case .wanted(isEnabled: false), .withdrawn: false
        }
    }
}
