public import GatewayModel
public import Stage

/// Calling others into a room or onto its stage.
extension BroadcastClient {
    /// Invites; it rings for those invited until somebody answers, its time is over, or it is called back.
    public func invite(to room: String, _ body: CreateInvitationBody) async throws(StageError) -> InvitationResource {
        try await command(.post, ["rooms", room, "invitations"], body)
    }

    /// An invitation, for those it concerns.
    public func invitation(_ sid: String) async throws(StageError) -> InvitationResource {
        try await read(["invitations", sid])
    }

    /// Accepts an invitation; joining with it, or changing the mode, is the next step.
    ///
    /// - Throws: 409 when it is closed, 410 when its time is over.
    @discardableResult
    public func acceptInvitation(_ sid: String) async throws(StageError) -> InvitationResource {
        try await command(.post, ["invitations", sid, "accept"])
    }

    /// Declines an invitation.
    @discardableResult
    public func rejectInvitation(_ sid: String) async throws(StageError) -> InvitationResource {
        try await command(.post, ["invitations", sid, "reject"])
    }

    /// Calls one's own invitation back.
    @discardableResult
    public func cancelInvitation(_ sid: String) async throws(StageError) -> InvitationResource {
        try await command(.post, ["invitations", sid, "cancel"])
    }
}
