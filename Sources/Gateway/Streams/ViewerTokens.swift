import ControlAPI
import FanOut
import Stage

/// Identifies viewers by the tokens of their players.
struct ViewerTokens: Sendable {
    let tokens: AccessTokens
    let stage: RoomDirectory

    /// Returns the bearer of a token that plays `name`.
    func bearer(of token: String, watching name: String) async throws(ViewerTokenRefusal) -> ViewerBearer {
        guard let claims = try? await tokens.verify(token) else { throw .invalid }
        guard claims.role != .operator else { throw .operatorToken }
        return bearer(claims, watching: name)
    }

    /// Returns the bearer of a token with these claims that plays `name`.
    ///
    /// A public program is played with the token of another room too, without its identity. Its role still applies, so
    /// that a monitor does not count as a viewer.
    func bearer(_ claims: AccessClaims, watching name: String) -> ViewerBearer {
        let role: PlayerRequest.Role =
            switch claims.role {
            case .operator, .participant: .viewer
            case .monitor: .monitor
            case .relay, .mixer: .relay
            case .thumbnail: .thumbnail
            }
        let isForRoom = isFor(name, claims)
        let isKnown = claims.role != .mixer && isForRoom
        return ViewerBearer(identity: isKnown ? claims.identity : nil, role: role, isForRoom: isForRoom)
    }

    /// - Parameter name: The name of a room, or of the feed of its preview or a rendition.
    private func isFor(_ name: String, _ claims: AccessClaims) -> Bool {
        guard let bound = claims.room else { return true }
        let room = room(of: name)
        return room == bound || (try? stage.room(room))?.sid == bound
    }

    /// Returns the room that a feed belongs to; a room whose name looks like that of a rendition comes before it.
    private func room(of name: String) -> String {
        if let preview = PreviewFeedName(name) { return preview.room }
        if (try? stage.room(name)) != nil { return name }
        return RenditionFeedName(played: name)?.room ?? name
    }
}
