import Synchronization

/// The pins of a room: those for all, and those of each participant for its own view.
///
/// Pure rules. The room checks that the pinned participant is a host and that the viewer is present.
struct RoomPins: Sendable, Equatable, Codable {
    /// The maximum of pins for one participant's own view; a further one replaces the oldest.
    static let maximumLocalPins = 12

    /// The pins for all, the newest first.
    private(set) var program: [Pin] = []
    /// The local pins by the viewer's sid, the newest first.
    private var local: [String: [Pin]] = [:]

    /// Returns the pin for all on a host.
    func pin(of sid: String) -> Pin? {
        pin(on: sid, by: .stage)
    }

    /// Returns the pin of one owner on a host.
    func pin(on sid: String, by owner: PinOwner) -> Pin? {
        self[owner].first { $0.participantSID == sid }
    }

    /// Returns the pins in one participant's view: pins for all before its own, the newest first.
    func pins(seenBy viewer: String) -> [Pin] {
        let own = (local[viewer] ?? []).filter { pin(of: $0.participantSID) == nil }
        return program + own
    }

    /// Pins a host; an equal pin changes nothing and keeps its date.
    mutating func pin(_ sid: String, _ type: PinType, by owner: PinOwner, at now: Double) -> [PinChange] {
        guard pin(on: sid, by: owner)?.type != type else { return [] }
        let pin = Pin(participantSID: sid, type: type, isLocal: owner != .stage, pinnedAt: now)
        self[owner].removeAll { $0.participantSID == sid }
        self[owner].insert(pin, at: 0)
        var changes = [PinChange(participantSID: sid, pin: pin, viewerSID: owner.viewerSID)]
        if pin.isLocal, self[owner].count > Self.maximumLocalPins {
            let oldest = self[owner].removeLast()
            changes.append(PinChange(participantSID: oldest.participantSID, viewerSID: owner.viewerSID))
        }
        return changes
    }

    /// Removes a pin; a missing one is no change.
    mutating func unpin(_ sid: String, by owner: PinOwner) -> PinChange? {
        guard pin(on: sid, by: owner) != nil else { return nil }
        self[owner].removeAll { $0.participantSID == sid }
        return PinChange(participantSID: sid, viewerSID: owner.viewerSID)
    }

    /// Removes every pin on a participant that is not a host any more; returns the change for all.
    ///
    /// Local pins are removed without an event: the change of mode implies it.
    mutating func removePins(on sid: String) -> PinChange? {
        for viewer in local.keys {
            self[.participant(viewer)].removeAll { $0.participantSID == sid }
        }
        return unpin(sid, by: .stage)
    }

    /// Removes every pin on and of a participant that left.
    mutating func remove(_ sid: String) -> PinChange? {
        local[sid] = nil
        return removePins(on: sid)
    }

    /// Transfers pins to a participant's new sid: the pin for all and its own pins.
    mutating func replace(_ old: String, with new: String) {
        if let index = program.firstIndex(where: { $0.participantSID == old }) {
            program[index].participantSID = new
        }
        // Local pins of others are removed, as for every participant that leaves; a pin on itself is its own.
        var own = local.removeValue(forKey: old) ?? []
        if let index = own.firstIndex(where: { $0.participantSID == old }) {
            own[index].participantSID = new
        }
        _ = removePins(on: old)
        self[.participant(new)] = own
    }

    mutating func removeAll() {
        self = RoomPins()
    }

    private subscript(owner: PinOwner) -> [Pin] {
        get {
            switch owner {
            case .stage: program
            case .participant(let viewer): local[viewer] ?? []
            }
        }
        set {
            switch owner {
            case .stage: program = newValue
            case .participant(let viewer): local[viewer] = newValue.isEmpty ? nil : newValue
            }
        }
    }
}

extension PinOwner {
    fileprivate var viewerSID: String? {
        if case .participant(let viewer) = self { viewer } else { nil }
    }
}

/// Pins, set by command and removed with their hosts.
extension Room {
    /// Pins a host.
    ///
    /// Events: `pin.changed`, and for a pin for all `layout.changed` when a tile changes; none for an equal pin.
    ///
    /// - Throws: 53106; 53204 for an unknown host or viewer; 3066 for a participant that is not a host.
    mutating func pin(
        _ reference: String,
        _ type: PinType,
        by owner: PinOwner,
        at now: Double
    ) throws(StageError) -> Pin {
        let index = try existing(reference)
        guard participants[index].isHost else { throw .onlyHostsCanBePinned }
        let (owner, sid) = (try resolved(owner), participants[index].sid)
        announce(pins.pin(sid, type, by: owner, at: now), at: now)
        // The pin exists now.
        return pins.pin(on: sid, by: owner)
            ?? Pin(participantSID: sid, type: type, isLocal: owner != .stage, pinnedAt: now)
    }

    /// Removes a pin; a missing one is ignored.
    ///
    /// Events: `pin.changed`, and for a pin for all `layout.changed` when a tile changes.
    ///
    /// - Throws: 53106, 53204.
    mutating func unpin(_ reference: String, by owner: PinOwner, at now: Double) throws(StageError) {
        let sid = participants[try existing(reference)].sid
        guard let change = pins.unpin(sid, by: try resolved(owner)) else { return }
        announce([change], at: now)
    }

    /// Removes the pins on a participant that is not a host any more.
    ///
    /// Events: `pin.changed` for a pin for all.
    mutating func removePins(on sid: String, at now: Double) {
        if let change = pins.removePins(on: sid) { emit(.pinChanged(change), at: now) }
    }

    /// Removes the pins on and of a participant that leaves.
    ///
    /// Events: `pin.changed` for a pin for all.
    mutating func removePins(of sid: String, at now: Double) {
        if let change = pins.remove(sid) { emit(.pinChanged(change), at: now) }
    }

    /// Returns the owner by sid, where it was named by identity.
    private func resolved(_ owner: PinOwner) throws(StageError) -> PinOwner {
        guard case .participant(let viewer) = owner else { return owner }
        return .participant(participants[try existing(viewer)].sid)
    }

    private mutating func announce(_ changes: [PinChange], at now: Double) {
        for change in changes {
            if change.viewerSID == nil, let index = index(of: change.participantSID) { update(at: index) { _ in } }
            emit(.pinChanged(change), at: now)
        }
        if changes.contains(where: { $0.viewerSID == nil }) { announceLayout(at: now) }
    }
}

/// Pins of the stage for all, and of a participant for its own view.
extension RoomDirectory {
    /// Pins a host; an equal pin changes nothing.
    ///
    /// - Parameters:
    ///   - participant: The host's sid or identity.
    ///   - owner: The stage, or the participant (by sid or identity) whose view it is for.
    /// - Throws: 53106; 53204 for an unknown host or viewer; 3066 for a participant that is not a host.
    @discardableResult
    public func pin(
        room: String,
        participant: String,
        type: PinType,
        by owner: PinOwner
    ) throws(StageError) -> Pin {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                try room.pin(participant, type, by: owner, at: now)
            }
        }
    }

    /// Removes a pin; a missing one is ignored.
    ///
    /// - Throws: 53106, 53204.
    public func unpin(room: String, participant: String, by owner: PinOwner) throws(StageError) {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                try room.unpin(participant, by: owner, at: now)
            }
        }
    }

    /// Returns the pins of a room: those for all first, then those of one viewer, the newest first of each.
    ///
    /// - Parameter viewer: A participant by sid or identity; nil for the pins for all.
    /// - Throws: 53106, 53204.
    public func pins(room: String, seenBy viewer: String? = nil) throws(StageError) -> [Pin] {
        try state.withLock { (state) throws(StageError) in
            let room = try state.room(room)
            guard let viewer else { return room.pins.program }
            guard let index = room.index(of: viewer) else { throw .participantNotFound }
            return room.pins.pins(seenBy: room.participants[index].sid)
        }
    }
}

extension StageError {
    /// 3066: only hosts can be pinned.
    public static let onlyHostsCanBePinned = StageError(
        code: 3066,
        name: "ACTION_NOT_ALLOWED_IN_MODE",
        message: "This participant cannot be pinned",
        cause: "Only a participant in mode SEND_AND_RECV can be pinned",
        solution: "Pin a host",
        status: 403
    )
}
