import HLS

/// What a request of a player waits for.
enum HLSWaitTarget: Hashable {
    /// The first segment.
    case beginning
    /// A media playlist that has what its directives ask for.
    case playlist(DeliveryDirectives)
    /// The part that the playlist announced.
    case part(PartPosition)
}
