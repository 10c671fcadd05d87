/// Hosts whose media ended the mixer again and again: for a while nothing is taken of them.
extension Room {
    /// Takes nothing of a host for `seconds`; its encoder is to be sent away by whoever calls.
    ///
    /// Who is no host, or no longer there, sends nothing anyway. Events: `participant.media_failed`.
    mutating func quarantine(_ sid: String, seconds: Double, at now: Double) {
        guard status == .inProgress, let index = index(of: sid), participants[index].isHost else { return }
        update(at: index) { $0.quarantinedUntil = now + seconds }
        let error = StageError.hostQuarantined(seconds: Int(seconds.rounded(.up)))
        note(at: index) { $0.mediaFault = (error, now) }
        emit(.participantMediaFailed(view(of: participants[index]), error), at: now)
    }

    /// Lets a host publish again before its time.
    ///
    /// Events: `participant.updated` for one that was in quarantine.
    ///
    /// - Throws: 53106, 53204.
    mutating func release(_ participant: String, at now: Double) throws(StageError) {
        guard status == .inProgress else { throw .roomNotFound }
        guard let index = index(of: participant) else { throw .participantNotFound }
        endQuarantine(at: index, now: now)
    }

    /// The quarantine is over, because its time is up and its host publishes, or by command.
    mutating func endQuarantine(at index: Int, now: Double) {
        guard participants[index].quarantinedUntil != nil else { return }
        update(at: index) { $0.quarantinedUntil = nil }
        emit(.participantUpdated(view(of: participants[index])), at: now)
    }
}
