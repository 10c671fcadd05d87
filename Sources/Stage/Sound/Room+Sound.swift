/// How loud everybody is, by command.
extension Room {
    /// Mixes the hosts differently from now on.
    ///
    /// Events: `room.updated` when that is a change.
    ///
    /// - Throws: 53106, or 3073 naming the field.
    mutating func setSound(_ sound: RoomSound, at now: Double) throws(StageError) {
        guard status == .inProgress else { throw .roomNotFound }
        try sound.validate(path: "")
        guard sound != settings.sound else { return }
        settings.sound = sound
        emit(.roomUpdated(view), at: now)
    }

    /// Mixes one participant differently from now on, now or once it is a host.
    ///
    /// Events: `participant.updated` when that is a change; `dominant_speaker.changed` and `layout.changed` when the one
    /// who has the floor is not heard any more.
    ///
    /// - Throws: 53106, 53204, or 3073 naming the field.
    mutating func setSound(
        of reference: String,
        _ sound: ParticipantSound,
        at now: Double
    ) throws(StageError) -> Participant {
        let index = try existing(reference)
        try sound.validate()
        guard sound != participants[index].sound else { return participants[index] }
        update(at: index) { $0.sound = sound }
        // At once, and not with the mixer's next report: the audience does not hear them from here on.
        let isFadedOut = sound.gain <= ParticipantSound.silentGain
        if isFadedOut { fadeOut(participants[index].sid, at: now) }
        emit(.participantUpdated(view(of: participants[index])), at: now)
        if isFadedOut { announceLayout(at: now) }
        return participants[index]
    }
}
