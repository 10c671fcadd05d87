import Stage

/// Participants who watch (RECV_ONLY, known by the API) and the players that are theirs.
///
/// A participant without a player of its own counts as `sdk`: it is *seated*. As soon as a player of its own counts, it
/// gives up the seat, and takes it back when the last of them ends; its one join goes along, so that a viewer is never
/// counted twice and never joins twice. A participant and its sessions live in the same shard, which makes this one
/// step.
extension AudienceShard {
    /// The participant watches; saying it again changes nothing.
    mutating func participantWatching(room name: String, identity: String, at: Int64) {
        guard let room = makeRoom(name) else { return reject(.full) }
        let place = makeParticipant(identity, room: room)
        guard var participant = participants[place], !participant.isWatching else { return }
        participant.isWatching = true
        participants[place] = participant
        guard takeSeat(of: Int32(place), at: at) else { return }
        tallies[Int(room)].joins[.sdk] += 1
        note(room, 1, at: at)
    }

    /// The participant no longer watches; players of its own count on.
    mutating func participantLeft(room name: String, identity: String, at: Int64) {
        guard
            let room = roomPlaces[name],
            let place = participantPlaces[ParticipantKey(room: room, identity: identity)]
        else { return }
        standUp(Int(place), reason: .left, at: at)
    }

    /// Says that the session `id` is one of the participant's players; a session that is not known yet is expected.
    ///
    /// - Returns: false when the session is another participant's, or there is no space for it.
    mutating func attribute(_ id: SessionID, room name: String, identity: String, at: Int64) -> Bool {
        let index: Int
        if let known = place(of: id, room: name) {
            index = known
        } else {
            guard places.count < sessionLimit, let room = makeRoom(name) else {
                reject(.full)
                return false
            }
            index = add(id, room: room, playback: .sdk, at: at)
            schedule(index, deadline: at + timeouts[.sdk])
        }
        let room = sessions[index].room
        let owner = sessions[index].participant
        if owner >= 0 { return participants[Int(owner)]?.identity == identity }

        let place = makeParticipant(identity, room: room)
        participants[place]?.sessions += 1
        sessions[index].participant = Int32(place)
        guard sessions[index].phase == .live else { return true }
        let wasSeated = giveUpSeat(of: Int32(place), at: at)
        countPlayer(of: Int32(place), by: 1)
        if wasSeated {
            // Two viewers turn out to be one.
            tallies[Int(room)].leaves[.sdk][.left] += 1
            note(room, -1, at: at)
        }
        return true
    }

    /// The participant stops to count by itself, because a player of its own does.
    ///
    /// - Returns: whether it did count by itself.
    mutating func giveUpSeat(of place: Int32, at: Int64) -> Bool {
        guard place >= 0, let participant = participants[Int(place)], participant.isSeated else { return false }
        participants[Int(place)]?.isSeated = false
        let room = Int(participant.room)
        tallies[room].live[.sdk] -= 1
        tallies[room].runStarts[.sdk] -= participant.since
        tallies[room].settledWatch[.sdk] += max(0, at - participant.since)
        return true
    }

    /// The participant counts by itself, if it watches and no player of its own does.
    ///
    /// - Returns: whether it took the seat.
    mutating func takeSeat(of place: Int32, at: Int64) -> Bool {
        guard place >= 0, let participant = participants[Int(place)] else { return false }
        guard participant.isWatching, !participant.isSeated, participant.players == 0 else { return false }
        participants[Int(place)]?.isSeated = true
        participants[Int(place)]?.since = at
        tallies[Int(participant.room)].live[.sdk] += 1
        tallies[Int(participant.room)].runStarts[.sdk] += at
        return true
    }

    /// A session of the participant became live (1) or ended (-1).
    mutating func countPlayer(of place: Int32, by change: Int) {
        guard place >= 0, let participant = participants[Int(place)] else { return }
        let players = participant.players + change
        let room = Int(participant.room)
        tallies[room].attributed += change
        tallies[room].surplus += max(0, players - 1) - max(0, participant.players - 1)
        participants[Int(place)]?.players = players
    }

    /// A session of the participant is forgotten.
    mutating func releaseParticipant(of index: Int) {
        let place = sessions[index].participant
        guard place >= 0 else { return }
        sessions[index].participant = -1
        participants[Int(place)]?.sessions -= 1
        dropParticipantIfUnused(Int(place))
    }

    /// Every participant of a room that ends.
    mutating func dismissParticipants(of room: Int32, at: Int64) {
        for place in participants.indices where participants[place]?.room == room {
            standUp(place, reason: .roomEnded, at: at)
        }
    }

    private mutating func standUp(_ place: Int, reason: AudienceEvent.CloseReason, at: Int64) {
        guard let participant = participants[place], participant.isWatching else { return }
        participants[place]?.isWatching = false
        if giveUpSeat(of: Int32(place), at: at) {
            tallies[Int(participant.room)].leaves[.sdk][reason] += 1
            note(participant.room, -1, at: at)
        }
        dropParticipantIfUnused(place)
    }

    private mutating func makeParticipant(_ identity: String, room: Int32) -> Int {
        let key = ParticipantKey(room: room, identity: identity)
        if let place = participantPlaces[key] { return Int(place) }
        let participant = Participant(room: room, identity: identity)
        let place: Int
        if let free = freeParticipants.popLast() {
            place = free
            participants[free] = participant
        } else {
            place = participants.count
            participants.append(participant)
        }
        participantPlaces[key] = Int32(place)
        return place
    }

    private mutating func dropParticipantIfUnused(_ place: Int) {
        guard let participant = participants[place], participant.sessions == 0, !participant.isWatching else { return }
        participantPlaces[ParticipantKey(room: participant.room, identity: participant.identity)] = nil
        participants[place] = nil
        freeParticipants.append(place)
    }
}
