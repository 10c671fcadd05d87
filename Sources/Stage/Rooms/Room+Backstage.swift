/// Before and after the show: the hosts are on stage, and the audience does not see them.
extension Room {
    /// Shows the stage to the audience, or takes it from their view; to do so again changes nothing.
    ///
    /// Events: `room.updated`.
    mutating func setBackstage(_ isBackstage: Bool, at now: Double) throws(StageError) {
        guard status == .inProgress else { throw .roomNotFound }
        guard self.isBackstage != isBackstage else { return }
        self.isBackstage = isBackstage
        emit(.roomUpdated(view), at: now)
    }

    /// Passes on news from outside of the stage; an ended room has none.
    mutating func announce(_ payload: StageEvent.Payload, at now: Double) {
        guard status == .inProgress else { return }
        emit(payload, at: now)
    }
}
