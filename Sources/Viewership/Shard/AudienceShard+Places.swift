import Stage

/// Rooms whose audience is limited.
extension AudienceShard {
    /// Tells the places of a room's viewers from now on, those who are here included.
    mutating func followPlaces(of name: String) {
        guard limitedRooms.insert(name).inserted, let room = roomPlaces[name] else { return }
        let live = cells.reduce(0) { $0 + ($1.key.room == room ? $1.live : 0) }
        places.count(name, live)
    }

    /// The room has no limit any more, or another one.
    mutating func ignorePlaces(of name: String) {
        limitedRooms.remove(name)
    }

    /// Whether somebody who asks needs no further place: it has one, or is no audience.
    func holdsPlace(_ id: SessionID, room: String) -> Bool {
        if let owner = ownedCodes[id.code], isThere(owner) { return true }
        guard let place = index.find(id.code, in: sessions), self.room(of: place) == room else { return false }
        let session = sessions[place]
        if session.flags.contains(.isExcluded) || isThere(session.viewer) { return true }
        // Who was here a moment ago comes back, with the one connection that it had.
        return session.phase != .new && session.connections <= 1
    }

    /// Whether the participant is in the room, as audience or on stage.
    func holdsPlace(_ key: ViewerKey) -> Bool {
        viewerPlaces[key.value].map { isThere($0) } ?? false
    }

    /// Takes a place for a player that is seen by its requests here, and that counts as a viewer from now on.
    ///
    /// One that another server answers cannot be refused, and counts as it watches; a connection was given its place when
    /// it was let in, and who counted before has not gone.
    ///
    /// - Returns: nil when there is none; whether one was taken.
    mutating func takePlace(for place: Int) -> Bool? {
        guard !limitedRooms.isEmpty, let name = room(of: place), limitedRooms.contains(name) else { return false }
        let session = sessions[place]
        guard session.phase == .new, session.connections == 0, !isThere(session.viewer) else { return false }
        guard !session.isElsewhere, !session.isLogged, !session.flags.contains(.isRemote) else { return false }
        return places.take(name) ? true : nil
    }

    private func isThere(_ viewer: Int32) -> Bool {
        guard viewer >= 0, let viewer = viewers[Int(viewer)] else { return false }
        return viewer.isWatching || viewer.isHost
    }
}
