import ControlAPI
import FanOut
import Stage

/// Whose tokens players show, for the count of the audience.
struct ViewerTokens: Sendable {
    let tokens: AccessTokens
    let stage: RoomDirectory

    /// Who shows the token to watch `name`.
    func bearer(of token: String, watching name: String) async throws(ViewerTokenRefusal) -> ViewerBearer {
        guard let claims = try? await tokens.verify(token) else { throw .invalid }
        guard claims.role != .operator else { throw .operatorToken }
        return bearer(claims, watching: name)
    }

    /// Who shows a token with these claims to watch `name`.
    ///
    /// The program is for everybody: a token for another room lets its bearer watch too, and says nothing of who that is,
    /// only that it is no viewer where it is none.
    func bearer(_ claims: AccessClaims, watching name: String) -> ViewerBearer {
        let role: PlayerRequest.Role =
            switch claims.role {
            case .operator, .participant: .viewer
            case .monitor: .monitor
            case .relay, .mixer: .relay
            case .thumbnail: .thumbnail
            }
        let isKnown = claims.role != .mixer && isFor(name, claims)
        return ViewerBearer(identity: isKnown ? claims.identity : nil, role: role)
    }

    /// - Parameter name: Of a room, or of a rendition of its program.
    private func isFor(_ name: String, _ claims: AccessClaims) -> Bool {
        guard let bound = claims.room else { return true }
        return [name, RenditionFeedName(played: name)?.room].compactMap(\.self).contains { room in
            room == bound || (try? stage.room(room))?.sid == bound
        }
    }
}
