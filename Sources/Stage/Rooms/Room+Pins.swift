/// Pins that end because somebody is no host any more, or gone.
extension Room {
    /// Events: `pin.changed` for a pin that everybody saw.
    mutating func dropPins(on sid: String, at now: Double) {
        if let change = pins.removePins(on: sid) { emit(.pinChanged(change), at: now) }
    }

    /// Events: `pin.changed` for a pin that everybody saw.
    mutating func dropPins(of sid: String, at now: Double) {
        if let change = pins.remove(sid) { emit(.pinChanged(change), at: now) }
    }
}
