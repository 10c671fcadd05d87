public import Stage

/// The participants of a call, and the visible ones by position.
public struct CallParticipants: Sendable, Equatable {
    /// The local participant.
    public let local: CallParticipant
    /// The remote participants by id.
    public let remote: [CallParticipant.ID: CallParticipant]
    /// The visible remote participants by position.
    ///
    /// A position may be empty.
    public let places: [Int: CallParticipant]

    /// The visible remote participants in the order of their positions.
    public var visible: [CallParticipant] { places.sorted { $0.key < $1.key }.map(\.value) }
    /// The visible participants: the local one first, always.
    public var shown: [CallParticipant] { [local] + visible }
    /// The number of participants, the local one included.
    public var count: Int { 1 + remote.count }

    /// Creates a view from its parts, with the visible ones in the first positions.
    public init(
        local: CallParticipant,
        remote: [CallParticipant.ID: CallParticipant] = [:],
        visible: [CallParticipant] = []
    ) {
        let places = Dictionary(uniqueKeysWithValues: visible.enumerated().map { ($0.offset, $0.element) })
        self.init(local: local, remote: remote, places: places)
    }

    /// Creates a view from its parts.
    public init(
        local: CallParticipant,
        remote: [CallParticipant.ID: CallParticipant],
        places: [Int: CallParticipant]
    ) {
        self.local = local
        self.remote = remote
        self.places = places
    }

    /// Returns the newer view `other`, in which participants that are visible in both keep their positions where
    /// possible.
    ///
    /// The other positions go to the rest in the order of `other`. Every value is that of `other`.
    public func stabilize(_ other: CallParticipants) -> CallParticipants {
        let newer = Dictionary(other.visible.map { ($0.id, $0) }) { first, _ in first }
        var stable = places.compactMapValues { newer[$0.id] }.filter { other.places[$0.key] != nil }
        let placed = Set(stable.values.map(\.id))
        var rest = other.visible.filter { !placed.contains($0.id) }.makeIterator()
        for place in other.places.keys.sorted() where stable[place] == nil { stable[place] = rest.next() }
        return CallParticipants(local: other.local, remote: other.remote, places: stable)
    }
}

/// A participant in a client's view of a call.
public struct CallParticipant: Sendable, Hashable, Identifiable {
    /// The sid, or another unique id.
    public var id: String
    /// The displayed name.
    public var username: String
    /// The state of the microphone.
    public var mic: MediaState
    /// The state of the camera.
    public var camera: MediaState
    /// The state of the screen.
    public var screen: MediaState

    /// Creates a participant without media; one without a name is a guest.
    public init(
        id: String,
        username: String? = nil,
        mic: MediaState = .off,
        camera: MediaState = .off,
        screen: MediaState = .off
    ) {
        self.id = id
        self.username = username ?? "Guest"
        self.mic = mic
        self.camera = camera
        self.screen = screen
    }

    /// Whether the microphone is playable.
    public var hasAudio: Bool { mic == .playable }
    /// Whether a screen is playable.
    public var isSharingScreen: Bool { screen == .playable }
    /// Whether video is playable, the screen's or the camera's.
    public var hasVideo: Bool { isSharingScreen || camera == .playable }
}

/// Tracks joins, leaves and speakers, and selects the visible participants of one client's view.
///
/// The order of importance: the active speaker, earlier speakers, all others. Within the latter two, participants with
/// video come first, and then the newest, so that a newcomer is visible at once; becoming visible again counts like a
/// join, so that the least recently visible one is replaced (`updateVisible(_:)`). The program's layout is calmer:
/// there a newcomer is hidden while the layout is full, see `LayoutPlanner`.
///
/// `stabilize` moves the result of `build()` into the positions of the previous view.
public struct CallParticipantsBuilder: Sendable {
    /// The maximum number of visible remote participants.
    public let limit: Int
    /// Positions among the first `limit` that stay empty, for example because a client shows other content there.
    public var emptyPlaces: Set<Int> = []
    /// The local participant.
    public private(set) var local: CallParticipant
    /// The remote participants by id.
    public private(set) var remote: [CallParticipant.ID: CallParticipant] = [:]
    /// Ids of remote participants, the latest to join last.
    public private(set) var joinOrder: [CallParticipant.ID] = []
    /// Ids of remote participants that were active speakers, the latest last.
    public private(set) var speakerOrder: [CallParticipant.ID] = []
    /// The id of the active speaker; nil without one.
    public private(set) var activeSpeaker: CallParticipant.ID?

    /// The order of the last joins or becoming visible.
    private var turns: [CallParticipant.ID: Int] = [:]
    private var turn = 0
    private var shown: Set<CallParticipant.ID> = []

    /// Creates a builder with the local participant alone.
    ///
    /// - Parameters:
    ///   - local: The local participant.
    ///   - idiom: A phone shows 6 others, a pad 12.
    public init(local: CallParticipant, idiom: GridGeometry.Idiom = .pad) {
        self.init(local: local, limit: idiom.maximumTiles)
    }

    /// Creates a builder with the local participant alone, and at most `limit` visible others.
    public init(local: CallParticipant, limit: Int) {
        self.local = local
        self.limit = max(limit, 0)
    }

    /// Adds or updates a participant; a known id keeps its position in the order.
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

    /// Removes a participant; an unknown id changes nothing.
    public mutating func remove(_ id: CallParticipant.ID) {
        guard remote.removeValue(forKey: id) != nil else { return }
        joinOrder.removeAll { $0 == id }
        speakerOrder.removeAll { $0 == id }
        turns[id] = nil
        if activeSpeaker == id { activeSpeaker = nil }
    }

    /// Sets the active speaker; nil without one.
    ///
    /// An unknown id counts as nil.
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

    /// Records the visible participants; those that were hidden before have become visible.
    public mutating func updateVisible(_ ids: [CallParticipant.ID]) {
        turn += 1
        for id in ids where !shown.contains(id) && remote[id] != nil { turns[id] = turn }
        shown = Set(ids)
    }

    /// Returns the current view: the most important remote participants, up to the limit.
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
