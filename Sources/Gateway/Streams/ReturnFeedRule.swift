import ControlAPI
import Stage

/// Who may play a return feed, and whether there is to be one.
struct ReturnFeedRule: Sendable {
    let stage: RoomDirectory

    /// Whether the participant is a host who wants the feed.
    func isWanted(_ name: ReturnFeedName) -> Bool {
        guard let host = try? stage.participant(name.identity, in: name.room) else { return false }
        return host.identity == name.identity && host.isReturnWanted
    }

    /// Whether the bearer of a token may play the feed: the host itself, and whoever runs or watches over the room.
    func admits(_ claims: AccessClaims, to name: ReturnFeedName) -> Bool {
        guard isBound(claims, to: name.room) else { return false }
        return switch claims.role {
        case .operator, .monitor: true
        case .participant: claims.identity == name.identity
        case .mixer, .relay, .thumbnail: false
        }
    }

    /// Tokens are bound to a room by name or by sid, or to none.
    private func isBound(_ claims: AccessClaims, to room: String) -> Bool {
        guard let bound = claims.room else { return claims.role == .operator || claims.role == .monitor }
        return bound == room || (try? stage.room(room))?.sid == bound
    }
}

extension ParticipantView {
    /// The participant is a host, and wants the program without its own sound.
    var isReturnWanted: Bool { mode == .sendAndReceive && sound.wantsReturn }
}
