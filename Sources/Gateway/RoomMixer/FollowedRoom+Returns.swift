import GatewayModel

/// Who is to hear what.
extension FollowedRoom {
    /// The hosts who want the program without their own sound: identities by sid.
    var returns: [String: String] {
        guard !isEnded else { return [:] }
        return Dictionary(
            hosts.filter(\.sound.returnFeed).map { ($0.sid, $0.identity) },
            uniquingKeysWith: { $1 }
        )
    }
}
