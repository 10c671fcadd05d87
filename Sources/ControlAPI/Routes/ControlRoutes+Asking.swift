import Hummingbird
import Stage

/// What most routes begin with.
extension ControlRoutes {
    /// The claims of the request's token.
    ///
    /// - Throws: 20101 without a token, and what `AccessTokens.verify` throws.
    func authenticate(_ request: Request) async throws(StageError) -> AccessClaims {
        guard let token = request.bearerToken else { throw .tokenInvalid }
        return try await tokens.verify(token)
    }

    /// The room that the path names.
    ///
    /// - Throws: 53106; for a token of another room 20106, so that it does not learn which rooms there are.
    func room(_ context: BasicRequestContext, for claims: AccessClaims) throws(StageError) -> RoomView {
        let reference = context.parameters.get("room") ?? ""
        do {
            return try directory.room(reference)
        } catch {
            throw claims.mayKnowOf(reference) ? error : .tokenGrantsInvalid
        }
    }

    /// As `room`, but an ended one counts as not found.
    func liveRoom(_ context: BasicRequestContext, for claims: AccessClaims) throws(StageError) -> RoomView {
        let room = try room(context, for: claims)
        guard room.status == .inProgress else { throw .roomNotFound }
        return room
    }

    /// Our addresses, under the host by which the client reached us.
    func addresses(for request: Request) -> PlaybackAddresses {
        addresses().reached(by: HostName.parse(request.head.authority))
    }
}
