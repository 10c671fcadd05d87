/// Follows who joins, leaves and speaks, and says who of them is to be shown in one client's view.
///
/// In the order of importance: the active speaker; those who spoke before; those who never did. Among the latter two
/// the ones with a picture come before those without, and then the newest first, so that a newcomer is seen at once; who
/// came into view again is as new as who joined, so that the least recently visible gives way (`noteShown(_:)`).
/// (The program's picture is calmer than a client's view: there a newcomer waits, see `LayoutPlanner`.)
///
/// Use `stabilize` to bring what `build()` gives into the places of the view before.
public struct CallParticipantsBuilder: Sendable {
    /// How many of the others are shown at most.
    public let limit: Int
    /// Places among the first `limit` in which nobody is shown, as where a client shows something else.
    public var emptyPlaces: Set<Int> = []
    /// The participant whose view it is.
    public private(set) var local: CallParticipant
    /// Everybody else by id.
    public private(set) var remote: [CallParticipant.ID: CallParticipant] = [:]
    /// Ids of the others, the latest to join last.
    public private(set) var joinOrder: [CallParticipant.ID] = []
    /// Ids of the others who have been active speakers, the latest last.
    public private(set) var speakerOrder: [CallParticipant.ID] = []
    /// The id of the active speaker; nil when nobody speaks.
    public private(set) var activeSpeaker: CallParticipant.ID?

    /// When each of the others last joined or came into view, by a count of such moments.
    private var turns: [CallParticipant.ID: Int] = [:]
    private var turn = 0
    private var shown: Set<CallParticipant.ID> = []

    /// Begins with the local participant alone.
    ///
    /// - Parameters:
    ///   - local: The participant whose view it is.
    ///   - idiom: A phone shows 6 others, a pad 12.
    public init(local: CallParticipant, idiom: GridGeometry.Idiom = .pad) {
        self.init(local: local, limit: idiom.maximumTiles)
    }

    /// Begins with the local participant alone, and shows at most `limit` others.
    public init(local: CallParticipant, limit: Int) {
        self.local = local
        self.limit = max(limit, 0)
    }

    /// Somebody joined, or has changed; an id that is known keeps its place in the order.
    public mutating func upsert(_ participant: CallParticipant) {
        guard participant.id != local.id else {
            local = participant
            return
        }
        if remote.updateValue(participant, forKey: participant.id) == nil {
            joinOrder.append(participant.id)
            turn += 1
            turns[participant.id] = turn
        }
    }

    /// Somebody left; an unknown id changes nothing.
    public mutating func remove(_ id: CallParticipant.ID) {
        guard remote.removeValue(forKey: id) != nil else { return }
        joinOrder.removeAll { $0 == id }
        speakerOrder.removeAll { $0 == id }
        turns[id] = nil
        if activeSpeaker == id { activeSpeaker = nil }
    }

    /// Somebody else speaks, or nobody does.
    ///
    /// Nobody knows an id that has not joined, so it counts as nobody.
    public mutating func setActiveSpeaker(_ id: CallParticipant.ID?) {
        guard let id, id == local.id || remote[id] != nil else {
            activeSpeaker = nil
            return
        }
        activeSpeaker = id
        guard id != local.id else { return }
        speakerOrder.removeAll { $0 == id }
        speakerOrder.append(id)
    }

    /// These are visible now; those of them who were not have come into view.
    public mutating func noteShown(_ ids: [CallParticipant.ID]) {
        turn += 1
        for id in ids where !shown.contains(id) && remote[id] != nil { turns[id] = turn }
        shown = Set(ids)
    }

    /// The view now: the most important of the others, as many as there is room for.
    public func build() -> CallParticipants {
        let active = [activeSpeaker].compactMap(\.self).filter { $0 != local.id }
        var seen: Set<CallParticipant.ID> = []
        let arrivals = joinOrder.enumerated().sorted { one, other in
            (turns[one.element] ?? 0, one.offset) < (turns[other.element] ?? 0, other.offset)
        }
        let ids = (active + withVideoFirst(speakerOrder) + withVideoFirst(arrivals.map(\.element))).filter {
            seen.insert($0).inserted
        }
        let free = (0..<limit).filter { !emptyPlaces.contains($0) }
        let shown = zip(free, ids.compactMap { remote[$0] })
        return CallParticipants(local: local, remote: remote, places: Dictionary(uniqueKeysWithValues: Array(shown)))
    }

    private func withVideoFirst(_ oldestFirst: [CallParticipant.ID]) -> [CallParticipant.ID] {
        let newestFirst = oldestFirst.reversed()
        let hasVideo = { (id: CallParticipant.ID) in remote[id]?.hasVideo ?? false }
        return newestFirst.filter(hasVideo) + newestFirst.filter { !hasVideo($0) }
    }
}
