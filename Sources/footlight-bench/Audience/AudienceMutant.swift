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
    /// The time-out is shorter than a player may be cut off for: of one that is, nothing is heard until it has passed.
    case shortTimeout
    /// After a kill nothing is found on disk.
    case lostHistory
    /// After a kill the sessions found on disk join again.
    case joinsAgain
    /// After a kill the time between a viewer's last playlist and the kill is in no figure.
    case lostPollAtKill

    /// Shows only when the gateway is killed.
    var isOfKill: Bool {
        switch self {
        case .lostHistory, .joinsAgain, .lostPollAtKill: true
        default: false
        }
    }
}
