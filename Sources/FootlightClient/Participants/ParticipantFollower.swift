public import GatewayModel
public import Stage

/// One client's view of a call, made from the lists of participants that come one after the other.
///
/// Those who stay keep their places; see `CallParticipantsBuilder` for who is shown. Pure rules, without network.
public struct ParticipantFollower: Sendable {
    /// The view now.
    public private(set) var participants: CallParticipants
    private var builder: CallParticipantsBuilder
    private let identity: String
    private let idiom: GridGeometry.Idiom

    /// Begins with the local participant alone.
    ///
    /// - Parameters:
    ///   - identity: Whose view it is.
    ///   - username: The name to show while the gateway has not told one.
    ///   - idiom: A phone shows 6 others, a pad 12.
    public init(identity: String, username: String? = nil, idiom: GridGeometry.Idiom = .pad) {
        self.identity = identity
        self.idiom = idiom
        builder = CallParticipantsBuilder(
            local: CallParticipant(id: identity, username: username),
            idiom: idiom
        )
        participants = builder.build()
    }

    /// Takes everybody who is in the room now; an empty list begins anew.
    ///
    /// Of the others only hosts are followed: nobody else has anything to show.
    public mutating func take(_ resources: [ParticipantResource]) {
        guard let own = resources.first(where: { $0.identity == identity }) else {
            self = ParticipantFollower(
                identity: identity,
                username: participants.local.username,
                idiom: idiom
            )
            return
        }
        if own.sid != builder.local.id {
            builder = CallParticipantsBuilder(local: CallParticipant(own), idiom: idiom)
        }
        builder.upsert(CallParticipant(own))
        let others = resources.filter { $0.isHost && $0.sid != own.sid }
        let present = Set(others.map(\.sid))
        for id in builder.joinOrder where !present.contains(id) { builder.remove(id) }
        for other in others { builder.upsert(CallParticipant(other)) }
        let speaker = resources.first { $0.isDominantSpeaker }?.sid
        if speaker != builder.activeSpeaker { builder.setActiveSpeaker(speaker) }
        participants = participants.stabilize(builder.build())
        builder.noteShown(participants.visible.map(\.id))
    }
}
