import GatewayModel
import Stage

extension HandResource {
    init(_ hand: Hand) {
        self.init(
            sid: hand.sid,
            participantSID: hand.participantSID,
            identity: hand.identity,
            raisedAt: Timestamp(hand.raisedAt),
            expiresAt: Timestamp(hand.expiresAt)
        )
    }
}
