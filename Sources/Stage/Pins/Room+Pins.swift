/// Pins, set by command and ended with what they are on.
extension Room {
    /// Pins a host.
    ///
    /// Events: `pin.changed`, and for a pin for everybody `layout.changed` when a tile changes; none for the same pin.
    ///
    /// - Throws: 53106; 53204 for an unknown host or viewer; 3066 for somebody who is no host.
    mutating func pin(
        _ reference: String,
        _ type: PinType,
        by owner: PinOwner,
        at now: Double
    ) throws(StageError) -> Pin {
        let index = try existing(reference)
        guard participants[index].isHost else { throw .onlyHostsArePinned }
        let (owner, sid) = (try settled(owner), participants[index].sid)
        announce(pins.pin(sid, type, by: owner, at: now), at: now)
        // It was set just now, or before.
        return pins.pin(on: sid, by: owner)
            ?? Pin(participantSID: sid, type: type, isLocal: owner != .stage, pinnedAt: now)
    }

    /// Takes a pin away; one that is not there is fine.
    ///
    /// Events: `pin.changed`, and for a pin for everybody `layout.changed` when a tile changes.
    ///
    /// - Throws: 53106, 53204.
    mutating func unpin(_ reference: String, by owner: PinOwner, at now: Double) throws(StageError) {
        let sid = participants[try existing(reference)].sid
        guard let change = pins.unpin(sid, by: try settled(owner)) else { return }
        announce([change], at: now)
    }

    /// Somebody is no host any more.
    ///
    /// Events: `pin.changed` for a pin that everybody saw.
    mutating func dropPins(on sid: String, at now: Double) {
        if let change = pins.removePins(on: sid) { emit(.pinChanged(change), at: now) }
    }

    /// Somebody leaves.
    ///
    /// Events: `pin.changed` for a pin that everybody saw.
    mutating func dropPins(of sid: String, at now: Double) {
        if let change = pins.remove(sid) { emit(.pinChanged(change), at: now) }
    }

    /// The owner by sid, where it was named by identity.
    private func settled(_ owner: PinOwner) throws(StageError) -> PinOwner {
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
