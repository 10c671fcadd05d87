/// Who speaks, and who has the floor.
extension Room {
    /// Takes the levels of hosts.
    ///
    /// Events: `participant.updated` when somebody begins or stops to speak, `dominant_speaker.changed`. A change of level
    /// alone is none.
    mutating func hear(_ levels: [AudioLevel], at now: Double) {
        announce(speakers.hear(levels, at: now), at: now)
    }

    /// Lets time go by, for when no levels come.
    mutating func hearNothing(at now: Double) {
        announce(speakers.tick(at: now), at: now)
    }

    /// Somebody leaves the room or the stage; that they do not speak any more goes without saying.
    ///
    /// Events: `dominant_speaker.changed`.
    mutating func stopSpeaking(_ sid: String, at now: Double) {
        let actions = speakers.remove(sid, at: now)
        announce(actions.filter { if case .dominant = $0 { true } else { false } }, at: now)
    }

    /// Somebody is not heard by the audience any more; an event tells what they are after this already.
    ///
    /// Events: `dominant_speaker.changed`.
    mutating func fadeOut(_ sid: String, at now: Double) {
        announce(speakers.fadeOut(sid, at: now), at: now)
    }

    private mutating func announce(_ actions: [DominantSpeaker.Action], at now: Double) {
        for action in actions {
            switch action {
            case .speaking(let sid, _):
                guard let index = index(of: sid) else { continue }
                update(at: index) { _ in }
                emit(.participantUpdated(view(of: participants[index])), at: now)
            case .dominant(let change):
                // Their views say whether they have the floor.
                for index in [change.previousSID, change.participantSID].compactMap({ $0.flatMap(index(of:)) }) {
                    update(at: index) { _ in }
                }
                emit(.dominantSpeakerChanged(change), at: now)
            }
        }
    }
}
