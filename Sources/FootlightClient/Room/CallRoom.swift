public import FootlightModel
public import Stage

/// A room as a participant knows it: a snapshot with the events since.
///
/// A value type; also usable with ``BroadcastClient/events(of:after:)``.
public struct CallRoom: Sendable, Equatable {
    /// The room; its counts, dominant speaker and egress are kept up to date.
    public internal(set) var room: RoomResource
    /// The participants in join order.
    public internal(set) var participants: [ParticipantResource]
    /// The raised hands in the order in which they were raised.
    public internal(set) var hands: [HandResource]
    /// The layout on air, with its tiles.
    public internal(set) var layout: LayoutResource?
    /// The viewership by protocol; nil until the gateway reports it.
    public internal(set) var viewership: ViewershipResource?
    /// The revision of the latest event.
    public internal(set) var revision: UInt64

    /// Creates a room from a snapshot.
    ///
    /// - Returns: Nil for another event, or a snapshot without a room.
    public init?(snapshot event: EventResource) {
        guard event.type == .roomSnapshot, let room = event.room else { return nil }
        self.room = room
        participants = event.participants ?? []
        hands = event.hands ?? []
        layout = event.layout
        revision = event.rev
    }

    /// The participant of a sid or identity; nil if there is none.
    public subscript(participant: String) -> ParticipantResource? {
        index(of: participant).map { participants[$0] }
    }

    /// The hosts in join order.
    public var hosts: [ParticipantResource] {
        participants.filter { $0.mode == .sendAndReceive }
    }

    /// The number of viewers.
    public var audienceCount: Int { room.counts.audience }

    func index(of participant: String) -> Int? {
        participants.firstIndex { $0.sid == participant || $0.identity == participant }
    }
}

extension CallRoom {
    /// Applies an event.
    ///
    /// Events up to the known revision are ignored, and a participant is not replaced by an older revision.
    ///
    /// - Returns: Whether the room changed.
    @discardableResult
    public mutating func apply(_ event: EventResource) -> Bool {
        let before = self
        if var fresh = CallRoom(snapshot: event) {
            fresh.viewership = viewership
            self = fresh
            return self != before
        }
        guard event.rev > revision else { return false }
        applyFields(event)
        let isChanged = self != before
        revision = event.rev
        return isChanged
    }

    private mutating func applyFields(_ event: EventResource) {
        if let room = event.room { self.room = room }
        switch event.type.value {
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
            if let layout = event.layout { apply(layout) }
        case .viewershipUpdated:
            room.counts = event.counts ?? room.counts
            viewership = event.viewership ?? viewership
        case .livestreamStateChanged:
            room.egress.livestream = event.livestream ?? room.egress.livestream
        case .livestreamOutputUpdated:
            if let output = event.output { apply(output) }
        case .handRaised:
            if let hand = event.hand { hands = hands.filter { $0.participantSID != hand.participantSID } + [hand] }
        case .handLowered, .handAccepted, .handRejected, .handExpired:
            hands.removeAll { $0.sid == event.hand?.sid }
        case .hlsStateChanged:
            room.egress.hls = event.hls ?? room.egress.hls
        default:
            if let participant = event.participant { apply(participant) }
        }
    }

    /// Updates a participant, or appends a new one.
    mutating func apply(_ participant: ParticipantResource) {
        if let index = participants.firstIndex(where: { $0.sid == participant.sid }) {
            guard participant.revision >= participants[index].revision else { return }
            participants[index] = participant
        } else {
            // An identity is in the room once; a new participant replaces the old one of its identity.
            participants.removeAll { $0.identity == participant.identity }
            participants.append(participant)
        }
    }

    private mutating func apply(_ layout: LayoutResource) {
        self.layout = layout
        for index in participants.indices {
            let tile = layout.tiles.first { $0.participantSID == participants[index].sid }
            participants[index].position = tile?.position
        }
    }

    private mutating func apply(_ output: OutputResource) {
        if let index = room.egress.livestream.outputs.firstIndex(where: { $0.name == output.name }) {
            room.egress.livestream.outputs[index] = output
        } else {
            room.egress.livestream.outputs.append(output)
        }
    }
}

extension CustomEventResource {
    /// The content of a reaction, such as an emoji; nil for other events.
    public var reaction: String? {
        guard type == CustomEvent.reaction, case .string(let text)? = data[Self.reactionField] else { return nil }
        return text
    }

    /// The data of a reaction.
    static func reactionData(_ text: String) -> [String: AnyJSON] { [reactionField: .string(text)] }

    private static let reactionField = "emoji"
}

extension CreateRoomBody {
    /// Creates a body for a room of a type.
    public init(uniqueName: String, type: RoomType) {
        self.init(uniqueName: uniqueName, type: WireEnum.known(type))
    }
}
