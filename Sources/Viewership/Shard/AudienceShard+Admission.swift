import Stage

/// What is learnt of a session before and beside its requests.
extension AudienceShard {
    /// A player showed `id`, or was given it; what is known of it is kept for the time when it counts.
    ///
    /// - Parameters:
    ///   - mayBegin: whether its client may have one more session; asked when it is not known here.
    ///   - verify: proves the id; asked when it is not known here.
    /// - Returns: what it may do.
    mutating func admit(
        _ id: SessionID,
        room name: String,
        visitor: Visitor,
        at: Int64,
        mayBegin: () -> Bool = { true },
        verify: () -> Bool
    ) -> Admission {
        let place: Int
        if let known = self.place(of: id, room: name, verify: verify) {
            place = known
        } else {
            guard verify() else {
                reject(.mac)
                return .foreign
            }
            guard mayBegin() else { return .crowded }
            guard hasSpace(), let room = makeRoom(name) else {
                reject(.full)
                return visitor.exclusion == nil && id.exclusion == nil ? .viewer : .uncounted
            }
            place = add(id, room: room, playback: .sdk, at: at)
        }
        // Who is nobody's stays so.
        if let client = visitor.account, !sessions[place].flags.contains(.isExcluded) { clients.set(client, at: place) }
        recount(place)
        schedule(place, deadline: at + timeout(of: place))
        describe(place, visitor, at: at)
        if let key = visitor.key { _ = attribute(place, to: key, at: at) }
        if let exclusion = visitor.exclusion { exclude(place, exclusion) }
        return sessions[place].flags.contains(.isExcluded) ? .uncounted : .viewer
    }

    /// What a session may do whose id was shown.
    enum Admission {
        case viewer
        /// It plays and does not count.
        case uncounted
        /// Its id is not ours.
        case foreign
        /// Its client has too many sessions that are not proven to watch.
        case crowded
    }

    /// Whether the id is known and proven, and may count.
    func standing(of id: SessionID, room: String) -> Bool? {
        guard let place = index.find(id.code, in: sessions), self.room(of: place) == room else { return nil }
        guard sessions[place].isNamed(by: id), !sessions[place].flags.contains(.isRecovered) else { return nil }
        return !sessions[place].flags.contains(.isExcluded)
    }

    /// Whether the session is still to be proven, and nobody has said whose media may prove it.
    func lacksReceiver(_ id: SessionID) -> Bool {
        guard let place = index.find(id.code, in: sessions) else { return false }
        return sessions[place].phase == .new && receivers[Int32(place)] == nil
    }

    /// Whether nobody who is believed has said where the session is.
    func lacksRegion(_ id: SessionID) -> Bool {
        index.find(id.code, in: sessions).map { regionSource(of: $0) < .told } ?? false
    }

    /// Whether the session was proven to watch, is kept, and has one connection at most: who comes back may come before the gateway has
    /// noticed that the old connection is gone.
    mutating func mayReturn(_ id: SessionID, room: String, verify: () -> Bool) -> Bool {
        place(of: id, room: room, verify: verify).map { place in
            // What never counts is never proven to watch, and has played when it has fetched a playlist.
            let hasPlayed = sessions[place].flags.contains(.isExcluded) && sessions[place].mark != ViewerSession.never
            return (sessions[place].phase != .new || hasPlayed) && sessions[place].connections <= 1
        } ?? false
    }

    /// Says that the session `id` is one of the viewer's players; one that is not known yet is when it plays.
    ///
    /// - Returns: false when the session is another viewer's, or there is no space for it.
    mutating func attribute(_ id: SessionID, room name: String, key: ViewerKey, at: Int64, verify: () -> Bool) -> Bool {
        if let known = place(of: id, room: name, verify: verify) { return attribute(known, to: key, at: at) }
        return expect(id, of: key, room: name)
    }

    /// The session plays on and never counts, unless it counts already.
    mutating func exclude(_ place: Int, _ reason: Exclusion) {
        guard sessions[place].phase == .new, !sessions[place].flags.contains(.isExcluded) else { return }
        sessions[place].flags.insert(.isExcluded)
        tallies[roomPlace(of: place)].counts.excluded[reason] += 1
    }

    /// Something asked that has no session: only its number is kept.
    mutating func countExcluded(room name: String, _ reason: Exclusion) {
        guard let room = makeRoom(name) else { return reject(.full) }
        tallies[Int(room)].counts.excluded[reason] += 1
    }

    private mutating func describe(_ place: Int, _ visitor: Visitor, at: Int64) {
        guard sessions[place].phase != .vacant else { return }
        if sessions[place].phase == .new, let estimate = visitor.estimate {
            hellos[Int32(place)] = estimate
        }
        if sessions[place].phase == .new, let client = visitor.receiver {
            receivers[Int32(place)] = Receiver(client: client)
        }
        var key = cells[Int(sessions[place].cell)].key
        if !visitor.region.isEmpty, visitor.regionSource >= regionSource(of: place) {
            key.region = names.number(of: visitor.region)
            noteRegionSource(visitor.regionSource, of: place)
        }
        if visitor.client != .unknown { key.client = visitor.client }
        // Up to its last request what it watched is booked, and the rest is not known yet.
        move(place, to: makeCell(key), at: playback(of: place).isContinuous ? at : sessions[place].lastHit)
    }

    private func regionSource(of place: Int) -> RegionSource {
        guard place < regionSources.count else { return .nobody }
        return RegionSource(rawValue: regionSources[place]) ?? .nobody
    }

    private mutating func noteRegionSource(_ source: RegionSource, of place: Int) {
        while regionSources.count <= place { regionSources.append(RegionSource.nobody.rawValue) }
        regionSources[place] = source.rawValue
    }

    // MARK: Reports of players

    /// A player says how it fares.
    ///
    /// - Parameters:
    ///   - source: where a name comes from that nobody signed; nil for an id of ours.
    ///   - visitor: who it is, for a session that is not known yet; nil for an id that does not prove itself.
    mutating func reported(
        _ report: PlayerReport,
        id: SessionID,
        room name: String,
        source: UInt64? = nil,
        at: Int64,
        visitor: () -> Visitor?
    ) {
        countBeacon()
        let known = place(of: id, room: name) { visitor() != nil }
        guard let place = known ?? remote(id, room: name, source: source, at: at, visitor: visitor) else { return }
        guard !sessions[place].flags.contains(.isExcluded) else {
            sessions[place].lastHit = max(at, sessions[place].lastHit)
            return
        }
        hear(place)
        if let startup = report.startup, startup >= 0 { noteStartup(place, min(Int64(startup), 600_000)) }
        guard sessions[place].connections == 0 else { return noteStall(place, saidIn: report, at: at) }
        if report.isEnd {
            guard sessions[place].phase == .live, !playback(of: place).isContinuous else { return }
            noteStall(place, saidIn: report, at: at)
            hit(place, at: at)
            depart(place, endedAt: max(at, sessions[place].lastHit), reason: .left, at: at)
            return
        }
        live(place, report, at: at)
        noteStall(place, saidIn: report, at: at)
        schedule(place, deadline: sessions[place].lastHit + timeout(of: place))
    }

    /// Its player says with a request that it waited for media at some time since its request before.
    ///
    /// For how long it does not say: for half of that time, as it is on average. Reports of its own say it exactly.
    mutating func starved(_ id: SessionID, room: String, at: Int64) {
        guard let place = place(of: id, room: room, verify: { false }) else { return }
        let session = sessions[place]
        guard session.phase == .live, session.connections == 0, !session.flags.contains(.isHeard) else { return }
        noteStall(place, said: (at - session.lastHit) / 2, at: at)
    }

    private mutating func noteStall(_ place: Int, saidIn report: PlayerReport, at: Int64) {
        guard let stalled = report.stalled else { return }
        noteStall(place, said: Int64(stalled), at: at)
    }

    /// What a player says it waited: it has to be proven to play, and cannot have waited longer than it played.
    private mutating func noteStall(_ place: Int, said time: Int64, at: Int64) {
        let session = sessions[place]
        guard time > 0, session.phase != .new else { return }
        noteStall(place, min(time, max(0, at - session.start - Int64(session.stalled))))
    }

    /// Its player waited for media, or its connection took none; milliseconds.
    mutating func noteStall(_ place: Int, _ time: Int64) {
        guard !sessions[place].flags.contains(.isExcluded) else { return }
        let added = min(max(time, 0), 3_600_000)
        cells[Int(sessions[place].cell)].counts.stalled += added
        sessions[place].stalled = UInt32(clamping: Int64(sessions[place].stalled) + added)
    }

    /// Its player speaks, and is told of among those that joined.
    private mutating func hear(_ place: Int) {
        guard !sessions[place].flags.contains(.isHeard) else { return }
        sessions[place].flags.insert(.isHeard)
        guard sessions[place].phase != .new else { return }
        tallies[roomPlace(of: place)].counts.heard += 1
        tell(place, end: sessions[place].phase == .ended ? sessions[place].mark : nil, isClosed: false)
    }

    /// A sign of life from the player itself, which counts as a request does.
    private mutating func live(_ place: Int, _ report: PlayerReport, at: Int64) {
        switch sessions[place].phase {
        case .vacant: break
        case .new:
            if report.isPlaying, playback(of: place) == .sdk {
                // It took its id here, and plays without having asked for media here: another server answers it.
                sessions[place].flags.insert(.isRemote)
                sessions[place].since = at
                recount(place)
            }
            guard sessions[place].flags.contains(.isRemote) else { return }
            relocate(place, report.isLowLatency ? .llhls : .hls, report.rendition, at: at)
            if !report.isPlaying {
                sessions[place].since = at
            } else if at - sessions[place].since >= 5000, isBelieved(place, at: at) {
                enter(place, since: sessions[place].since, at: at)
            }
            sessions[place].lastHit = max(at, sessions[place].lastHit)
        case .live:
            hit(place, at: at)
            // Playlists say it exactly.
            let rendition = sessions[place].flags.contains(.isRemote) ? report.rendition : nil
            relocate(place, playback(of: place), rendition, at: at)
            sessions[place].lastHit = max(at, sessions[place].lastHit)
        case .ended:
            guard report.isPlaying else { return }
            enter(place, since: at, at: at)
        }
        guard let isPaused = report.isPaused, isPaused != sessions[place].flags.contains(.isPaused) else { return }
        if isPaused { sessions[place].flags.insert(.isPaused) } else { sessions[place].flags.remove(.isPaused) }
        if sessions[place].phase == .live { tell(place, end: nil, isClosed: false) }
    }

    /// Whether a session that only reports tell of may count: anybody can make up a name, and nobody the media that its
    /// player is sent.
    private mutating func isBelieved(_ place: Int, at: Int64) -> Bool {
        guard strangers.contains(place), !countsReportsAlone else { return true }
        return isProvenByMedia(place, at: at)
    }

    /// Whether one more session may come from there under a name that nobody signed.
    func takesStranger(from source: UInt64) -> Bool {
        strangers.count(of: source) < Self.strangersPerSource
    }

    /// A session of which nothing but its player's reports is seen.
    private mutating func remote(
        _ id: SessionID,
        room name: String,
        source: UInt64?,
        at: Int64,
        visitor: () -> Visitor?
    ) -> Int? {
        guard let visitor = visitor() else {
            reject(.mac)
            return nil
        }
        guard hasSpace(), let room = makeRoom(name) else {
            reject(.full)
            return nil
        }
        if let source, !takesStranger(from: source) {
            tallies[Int(room)].counts.excluded[.surplus] += 1
            return nil
        }
        let place = add(id, room: room, playback: .hls, at: at)
        sessions[place].flags.insert(.isRemote)
        recount(place)
        if let source { strangers.add(place, from: source) }
        if let client = visitor.account { clients.set(client, at: place) }
        recount(place)
        schedule(place, deadline: at + timeout(of: place))
        describe(place, visitor, at: at)
        if let exclusion = visitor.exclusion { exclude(place, exclusion) }
        return place
    }
}
