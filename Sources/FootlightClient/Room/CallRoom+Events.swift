public import GatewayModel
import Stage

extension CallRoom {
    /// Takes in what happened.
    ///
    /// Events up to the known revision count for nothing, and a participant is never replaced by an older state of
    /// itself.
    ///
    /// - Returns: Whether anything changed.
    @discardableResult
    public mutating func take(_ event: EventResource) -> Bool {
        let before = self
        if var fresh = CallRoom(snapshot: event) {
            fresh.viewership = viewership
            self = fresh
            return self != before
        }
        guard event.rev > revision else { return false }
        apply(event)
        let isChanged = self != before
        revision = event.rev
        return isChanged
    }

    private mutating func apply(_ event: EventResource) {
        if let room = event.room { self.room = room }
        switch StageEvent.Name(rawValue: event.type) {
        case .participantLeft:
            if let participant = event.participant { participants.removeAll { $0.sid == participant.sid } }
        case .dominantSpeakerChanged:
            let sid = event.sid?.wrappedValue
            room.dominantSpeakerSID = sid
            for index in participants.indices { participants[index].isDominantSpeaker = participants[index].sid == sid }
        case .pinChanged:
            if let sid = event.participantSID, let index = index(of: sid) {
                participants[index].pin = event.pin?.wrappedValue
            }
        case .layoutChanged:
            if let layout = event.layout { take(layout) }
        case .viewershipUpdated:
            room.counts = event.counts ?? room.counts
            viewership = event.viewership ?? viewership
        case .livestreamStateChanged:
            room.egress.livestream = event.livestream ?? room.egress.livestream
        case .livestreamOutputUpdated:
            if let output = event.output { take(output) }
        case .handRaised:
            if let hand = event.hand { hands = hands.filter { $0.participantSID != hand.participantSID } + [hand] }
        case .handLowered, .handAccepted, .handRejected, .handExpired:
            hands.removeAll { $0.sid == event.hand?.sid }
        case .hlsStateChanged:
            room.egress.hls = event.hls ?? room.egress.hls
        default:
            if let participant = event.participant { take(participant) }
        }
    }

    /// Puts a participant in its place, or at the end.
    mutating func take(_ participant: ParticipantResource) {
        if let index = participants.firstIndex(where: { $0.sid == participant.sid }) {
            guard participant.revision >= participants[index].revision else { return }
            participants[index] = participant
        } else {
            // An identity is here once; who takes it over takes the place.
            participants.removeAll { $0.identity == participant.identity }
            participants.append(participant)
        }
    }

    private mutating func take(_ layout: LayoutResource) {
        self.layout = layout
        for index in participants.indices {
            let tile = layout.tiles.first { $0.participantSID == participants[index].sid }
            participants[index].position = tile?.position
        }
    }

    private mutating func take(_ output: OutputResource) {
        if let index = room.egress.livestream.outputs.firstIndex(where: { $0.name == output.name }) {
            room.egress.livestream.outputs[index] = output
        } else {
            room.egress.livestream.outputs.append(output)
        }
    }
}
