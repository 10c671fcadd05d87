/// All pins of a room: those for everybody, and those of each participant for its own view.
///
/// Pure rules. Whether the pinned is a host, and whether the viewer is there, is for the room to know.
struct PinBoard: Sendable, Equatable, Codable {
    /// Pins that one participant can have for its own view; one more takes the place of the oldest.
    static let mostLocalPins = 12

    /// For everybody, the newest first.
    private(set) var program: [Pin] = []
    /// By the sid of whose view it is, the newest first.
    private var local: [String: [Pin]] = [:]

    /// The pin for everybody on a host.
    func pin(of sid: String) -> Pin? {
        pin(on: sid, by: .stage)
    }

    /// The pin that one owner has set on a host.
    func pin(on sid: String, by owner: PinOwner) -> Pin? {
        self[owner].first { $0.participantSID == sid }
    }

    /// What counts in one participant's view: pins for everybody before its own, the newest first.
    func pins(seenBy viewer: String) -> [Pin] {
        let own = (local[viewer] ?? []).filter { pin(of: $0.participantSID) == nil }
        return program + own
    }

    /// Pins a host; the same pin again changes nothing and keeps its date.
    mutating func pin(_ sid: String, _ type: PinType, by owner: PinOwner, at now: Double) -> [PinChange] {
        guard pin(on: sid, by: owner)?.type != type else { return [] }
        let pin = Pin(participantSID: sid, type: type, isLocal: owner != .stage, pinnedAt: now)
        self[owner].removeAll { $0.participantSID == sid }
        self[owner].insert(pin, at: 0)
        var changes = [PinChange(participantSID: sid, pin: pin, viewerSID: owner.viewerSID)]
        if pin.isLocal, self[owner].count > Self.mostLocalPins {
            let oldest = self[owner].removeLast()
            changes.append(PinChange(participantSID: oldest.participantSID, viewerSID: owner.viewerSID))
        }
        return changes
    }

    /// Takes a pin away; one that is not there is no change.
    mutating func unpin(_ sid: String, by owner: PinOwner) -> PinChange? {
        guard pin(on: sid, by: owner) != nil else { return nil }
        self[owner].removeAll { $0.participantSID == sid }
        return PinChange(participantSID: sid, viewerSID: owner.viewerSID)
    }

    /// Somebody is no host any more: every pin on them goes, and the change is the one that concerns everybody.
    ///
    /// Pins for one view go without a word: whoever sees the host step down knows.
    mutating func removePins(on sid: String) -> PinChange? {
        for viewer in local.keys {
            self[.participant(viewer)].removeAll { $0.participantSID == sid }
        }
        return unpin(sid, by: .stage)
    }

    /// Somebody left: every pin on them and every pin of theirs goes.
    mutating func remove(_ sid: String) -> PinChange? {
        local[sid] = nil
        return removePins(on: sid)
    }

    /// The same person is back under a new sid: the pin for everybody and the pins of their own stay.
    mutating func replace(_ old: String, with new: String) {
        if let index = program.firstIndex(where: { $0.participantSID == old }) {
            program[index].participantSID = new
        }
        // Pins of others on them go, as with everybody who leaves; a pin on themselves is theirs.
        var own = local.removeValue(forKey: old) ?? []
        if let index = own.firstIndex(where: { $0.participantSID == old }) {
            own[index].participantSID = new
        }
        _ = removePins(on: old)
        self[.participant(new)] = own
    }

    mutating func removeAll() {
        self = PinBoard()
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
