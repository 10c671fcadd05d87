import GatewayModel

/// Who is to hear what.
extension FollowedRoom {
    /// The hosts who want the program without their own sound: identities by sid.
    var returns: [String: String] {
        Dictionary(
            hosts.filter(\.sound.returnFeed).map { ($0.sid, $0.identity) },
            uniquingKeysWith: { $1 }
        )
    }
}
