/// A fault that a count may have; each must be found out by one of the rules.
enum AudienceMutant: String, CaseIterable {
    /// Ends of connections are not seen.
    case lostCloses
    /// A connection that comes back is somebody new.
    case newIDAfterBlip
    /// Of most playlists nothing is heard.
    case lostPolls
    /// Nothing ever times out.
    case stoppedClock
    /// Who left is taken to have watched until it timed out.
    case endNotBackDated
    /// A relay counts.
    case countedRelay
    /// A change of rendition is a new viewer.
    case joinAtSwitch
    /// Ids prove nothing.
    case unprovenIDs
    /// Two gateways count the same viewers and know nothing of each other.
    case twoGateways
}
