/// Before and after the show: the hosts are on stage, and the audience does not see them.
extension Room {
    /// Shows the stage to the audience, or takes it from their view; to do so again changes nothing.
    ///
    /// Events: `room.updated`.
    mutating func setBackstage(_ isBackstage: Bool, at now: Double) throws(StageError) {
        guard status == .inProgress else { throw .roomNotFound }
        guard self.isBackstage != isBackstage else { return }
        self.isBackstage = isBackstage
        noteOnAir()
        emit(.roomUpdated(view), at: now)
    }

    /// Keeps in mind that the audience saw or heard somebody, if it does now.
    mutating func noteOnAir() {
        guard !wasOnAir, !isBackstage else { return }
        wasOnAir = participants.contains { $0.isHost && $0.isSeenOrHeard }
    }

    /// Passes on news from outside of the stage; an ended room has none.
    mutating func announce(_ payload: StageEvent.Payload, at now: Double) {
        guard status == .inProgress else { return }
        emit(payload, at: now)
    }
}
