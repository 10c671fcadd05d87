import ControlAPI
import FanOut
import Stage

/// Whose tokens players show, for the count of the audience.
struct ViewerTokens: Sendable {
    let tokens: AccessTokens
    let stage: RoomDirectory

    /// Who shows the token to watch `name`; nil when it is not valid.
    func bearer(of token: String, watching name: String) async -> ViewerBearer? {
        guard let claims = try? await tokens.verify(token) else { return nil }
        return bearer(claims, watching: name)
    }

    /// Who shows a token with these claims to watch `name`.
    ///
    /// The program is for everybody: a token for another room lets its bearer watch too, and says nothing of who that is.
    func bearer(_ claims: AccessClaims, watching name: String) -> ViewerBearer {
        guard isFor(name, claims) else { return ViewerBearer() }
        return switch claims.role {
        case .operator, .participant: ViewerBearer(identity: claims.identity)
        case .monitor: ViewerBearer(identity: claims.identity, role: .monitor)
        case .mixer: ViewerBearer(role: .relay)
        }
    }

    /// - Parameter name: Of a room, or of a rendition of its program.
    private func isFor(_ name: String, _ claims: AccessClaims) -> Bool {
        guard let bound = claims.room else { return true }
        return [name, RenditionFeedName(played: name)?.room].compactMap(\.self).contains { room in
            room == bound || (try? stage.room(room))?.sid == bound
        }
    }
}
