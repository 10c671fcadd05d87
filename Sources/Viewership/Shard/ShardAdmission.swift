import Stage

/// Admission of sessions and reports of players.
extension AudienceShard {
    /// Admits a player with `id`, and records its facts for the time when it counts.
    ///
    /// - Parameters:
    ///   - mayBegin: Whether the client may begin another session; called for an unknown id.
    ///   - verify: Verifies the id; called when it is unknown.
    /// - Returns: The admission.
    mutating func admit(
        _ id: SessionID,
        room name: String,
        clientIdentity: ClientIdentity,
        at: Int64,
        mayBegin: () -> Bool = { true },
        verify: () -> Bool
    ) -> Admission {
        let index: Int
        if let known = self.index(of: id, room: name, verify: verify) {
            index = known
        } else {
            guard verify() else {
                reject(.mac)
                return .foreign
            }
            guard mayBegin() else { return .crowded }
            guard hasSpace(), let room = makeRoom(name) else {
                reject(.full)
                return clientIdentity.exclusion == nil && id.exclusion == nil ? .viewer : .uncounted
            }
            index = add(id, room: room, playback: .sdk, at: at)
        }
        // An excluded session has no client.
        if let client = clientIdentity.account, !sessions[index].flags.contains(.isExcluded) {
            clients.set(client, at: index)
        }
        recount(index)
        schedule(index, deadline: at + timeout(of: index))
        describe(index, clientIdentity, at: at)
        if let key = clientIdentity.key { _ = attribute(index, to: key, at: at) }
        if let exclusion = clientIdentity.exclusion { exclude(index, exclusion) }
        return sessions[index].flags.contains(.isExcluded) ? .uncounted : .viewer
    }

    /// The result of an admission.
    enum Admission {
        case viewer
        /// The session plays and does not count.
        case uncounted
        /// The id is not authentic.
        case foreign
        /// The client has too many unqualified sessions.
        case crowded
    }

    /// Whether a verified session may count; nil for an unknown or unverified id.
    func standing(of id: SessionID, room: String) -> Bool? {
        guard let index = sessionIndex.find(id.code, in: sessions), self.room(of: index) == room else { return nil }
        guard sessions[index].matches(by: id), !sessions[index].flags.contains(.isRecovered) else { return nil }
        return !sessions[index].flags.contains(.isExcluded)
    }

    /// Whether the session watches, or was admitted and may still begin to.
    func isPresent(_ id: SessionID, room: String) -> Bool {
        guard let index = sessionIndex.find(id.code, in: sessions), self.room(of: index) == room else { return false }
        return sessions[index].phase == .new || sessions[index].phase == .live
    }

    /// Whether the session is unqualified and the client that receives its media is unknown.
    func lacksReceiver(_ id: SessionID) -> Bool {
        guard let index = sessionIndex.find(id.code, in: sessions) else { return false }
        return sessions[index].phase == .new && receivers[Int32(index)] == nil
    }

    /// Whether no trusted source has given the region of the session.
    func lacksRegion(_ id: SessionID) -> Bool {
        sessionIndex.find(id.code, in: sessions).map { regionSource(of: $0) < .declared } ?? false
    }

    /// Whether the session has qualified and has at most one connection, since a reconnect may precede the close of the
    /// old connection.
    mutating func mayReturn(_ id: SessionID, room: String, verify: () -> Bool) -> Bool {
        index(of: id, room: room, verify: verify).map { index in
            // An excluded session never qualifies; it has played once it has requested a playlist.
            let hasPlayed = sessions[index].flags.contains(.isExcluded) && sessions[index].mark != ViewerSession.never
            return (sessions[index].phase != .new || hasPlayed) && sessions[index].connections <= 1
        } ?? false
    }

    /// Attributes the session `id` to a viewer; of an unknown one once it plays.
    ///
    /// - Returns: False when the session belongs to another viewer, or the shard is full.
    mutating func attribute(_ id: SessionID, room name: String, key: ViewerKey, at: Int64, verify: () -> Bool) -> Bool {
        if let known = index(of: id, room: name, verify: verify) { return attribute(known, to: key, at: at) }
        return expect(id, of: key, room: name)
    }

    /// Excludes an unqualified session.
    mutating func exclude(_ index: Int, _ reason: ExclusionReason) {
        guard sessions[index].phase == .new, !sessions[index].flags.contains(.isExcluded) else { return }
        sessions[index].flags.insert(.isExcluded)
        roomCounters[roomIndex(of: index)].counts.excluded[reason] += 1
    }

    /// Counts an excluded request without a session.
    mutating func countExcluded(room name: String, _ reason: ExclusionReason) {
        guard let room = makeRoom(name) else { return reject(.full) }
        roomCounters[Int(room)].counts.excluded[reason] += 1
    }

    private mutating func describe(_ index: Int, _ clientIdentity: ClientIdentity, at: Int64) {
        guard sessions[index].phase != .vacant else { return }
        if sessions[index].phase == .new, let estimate = clientIdentity.estimate {
            pendingEstimates[Int32(index)] = estimate
        }
        if sessions[index].phase == .new, let client = clientIdentity.receiver {
            receivers[Int32(index)] = Receiver(client: client)
        }
        var key = cells[Int(sessions[index].cell)].key
        if !clientIdentity.region.isEmpty, clientIdentity.regionSource >= regionSource(of: index) {
            key.region = names.number(of: clientIdentity.region)
            setRegionSource(clientIdentity.regionSource, of: index)
        }
        if clientIdentity.client != .unknown { key.client = clientIdentity.client }
        // Of a polling viewer only the time up to its last request has been counted.
        move(index, to: makeCell(key), at: playback(of: index).isContinuous ? at : sessions[index].lastHit)
    }

    private func regionSource(of index: Int) -> RegionSource {
        guard index < regionSources.count else { return .unknown }
        return RegionSource(rawValue: regionSources[index]) ?? .unknown
    }

    private mutating func setRegionSource(_ source: RegionSource, of index: Int) {
        while regionSources.count <= index { regionSources.append(RegionSource.unknown.rawValue) }
        regionSources[index] = source.rawValue
    }

    // MARK: Reports of players

    /// Applies a report of a player.
    ///
    /// - Parameters:
    ///   - source: The origin of an unsigned session name; nil for a signed id.
    ///   - clientIdentity: The client of an unknown session; nil when the id is not authentic.
    mutating func reported(
        _ report: PlayerReport,
        id: SessionID,
        room name: String,
        source: UInt64? = nil,
        at: Int64,
        clientIdentity: () -> ClientIdentity?
    ) {
        countReport()
        let known = index(of: id, room: name) { clientIdentity() != nil }
        guard let index = known ?? remote(id, room: name, source: source, at: at, clientIdentity: clientIdentity) else {
            return
        }
        guard !sessions[index].flags.contains(.isExcluded) else {
            sessions[index].lastHit = max(at, sessions[index].lastHit)
            return
        }
        markReporting(index)
        if let startup = report.startup, startup >= 0 { recordStartup(index, min(Int64(startup), 600_000)) }
        guard sessions[index].connections == 0 else { return recordStall(index, saidIn: report, at: at) }
        if report.isEnd {
            guard sessions[index].phase == .live, !playback(of: index).isContinuous else { return }
            recordStall(index, saidIn: report, at: at)
            hit(index, at: at)
            depart(index, endedAt: max(at, sessions[index].lastHit), reason: .left, at: at)
            return
        }
        live(index, report, at: at)
        recordStall(index, saidIn: report, at: at)
        schedule(index, deadline: sessions[index].lastHit + timeout(of: index))
    }

    /// Counts a stall that a player signalled with a request, without its duration.
    ///
    /// The estimate is half of the time since the previous request. Reports have the exact duration.
    mutating func starved(_ id: SessionID, room: String, at: Int64) {
        guard let index = index(of: id, room: room, verify: { false }) else { return }
        let session = sessions[index]
        guard session.phase == .live, session.connections == 0, !session.flags.contains(.hasReported) else { return }
        recordStall(index, said: (at - session.lastHit) / 2, at: at)
    }

    private mutating func recordStall(_ index: Int, saidIn report: PlayerReport, at: Int64) {
        guard let stalled = report.stalled else { return }
        recordStall(index, said: Int64(stalled), at: at)
    }

    /// Counts a reported stall of a qualified session, limited to its playing time.
    private mutating func recordStall(_ index: Int, said time: Int64, at: Int64) {
        let session = sessions[index]
        guard time > 0, session.phase != .new else { return }
        recordStall(index, min(time, max(0, at - session.start - Int64(session.stalled))))
    }

    /// Counts a stall of the player or its connection, in milliseconds.
    mutating func recordStall(_ index: Int, _ time: Int64) {
        guard !sessions[index].flags.contains(.isExcluded) else { return }
        let added = min(max(time, 0), 3_600_000)
        cells[Int(sessions[index].cell)].counts.stalled += added
        sessions[index].stalled = UInt32(clamping: Int64(sessions[index].stalled) + added)
    }

    /// Marks a session whose player sends reports.
    private mutating func markReporting(_ index: Int) {
        guard !sessions[index].flags.contains(.hasReported) else { return }
        sessions[index].flags.insert(.hasReported)
        guard sessions[index].phase != .new else { return }
        roomCounters[roomIndex(of: index)].counts.reportingSessions += 1
        outputRow(index, end: sessions[index].phase == .ended ? sessions[index].mark : nil, isClosed: false)
    }

    /// Applies a report as activity, which counts like a request.
    private mutating func live(_ index: Int, _ report: PlayerReport, at: Int64) {
        switch sessions[index].phase {
        case .vacant: break
        case .new:
            if report.isPlaying, playback(of: index) == .sdk {
                // The id was issued here and media is not requested here: another server answers.
                sessions[index].flags.insert(.isRemote)
                sessions[index].since = at
                recount(index)
            }
            guard sessions[index].flags.contains(.isRemote) else { return }
            relocate(index, report.isLowLatency ? .llhls : .hls, report.rendition, at: at)
            if !report.isPlaying {
                sessions[index].since = at
            } else if at - sessions[index].since >= 5000, isTrusted(index, at: at) {
                enter(index, since: sessions[index].since, at: at)
            }
            sessions[index].lastHit = max(at, sessions[index].lastHit)
        case .live:
            hit(index, at: at)
            // Playlists are more exact than reports.
            let rendition = sessions[index].flags.contains(.isRemote) ? report.rendition : nil
            relocate(index, playback(of: index), rendition, at: at)
            sessions[index].lastHit = max(at, sessions[index].lastHit)
        case .ended:
            guard report.isPlaying else { return }
            enter(index, since: at, at: at)
        }
        guard let isPaused = report.isPaused, isPaused != sessions[index].flags.contains(.isPaused) else { return }
        if isPaused { sessions[index].flags.insert(.isPaused) } else { sessions[index].flags.remove(.isPaused) }
        if sessions[index].phase == .live { outputRow(index, end: nil, isClosed: false) }
    }

    /// Whether a session with reports only may count: a name can be made up, media that was sent cannot.
    private mutating func isTrusted(_ index: Int, at: Int64) -> Bool {
        guard unverifiedSessions.contains(index), !countsReportsAlone else { return true }
        return isProvenByMedia(index, at: at)
    }

    /// Whether another session with an unsigned name may begin from a source.
    func allowsUnverifiedSession(from source: UInt64) -> Bool {
        unverifiedSessions.count(of: source) < Self.unverifiedSessionsPerSource
    }

    /// Adds a session that is known by reports only.
    private mutating func remote(
        _ id: SessionID,
        room name: String,
        source: UInt64?,
        at: Int64,
        clientIdentity: () -> ClientIdentity?
    ) -> Int? {
        guard let clientIdentity = clientIdentity() else {
            reject(.mac)
            return nil
        }
        guard hasSpace(), let room = makeRoom(name) else {
            reject(.full)
            return nil
        }
        if let source, !allowsUnverifiedSession(from: source) {
            roomCounters[Int(room)].counts.excluded[.surplus] += 1
            return nil
        }
        let index = add(id, room: room, playback: .hls, at: at)
        sessions[index].flags.insert(.isRemote)
        recount(index)
        if let source { unverifiedSessions.add(index, from: source) }
        if let client = clientIdentity.account { clients.set(client, at: index) }
        recount(index)
        schedule(index, deadline: at + timeout(of: index))
        describe(index, clientIdentity, at: at)
        if let exclusion = clientIdentity.exclusion { exclude(index, exclusion) }
        return index
    }
}

/// Counts the sessions with unsigned names per source address.
struct UnverifiedSessionLimiter {
    private var counts: [UInt64: Int] = [:]
    private var sources: [Int32: UInt64] = [:]

    /// The number of sessions of a source.
    func count(of source: UInt64) -> Int { counts[source] ?? 0 }

    /// Whether the session at `index` has an unsigned name.
    func contains(_ index: Int) -> Bool { sources[Int32(index)] != nil }

    mutating func add(_ index: Int, from source: UInt64) {
        sources[Int32(index)] = source
        counts[source, default: 0] += 1
    }

    /// Removes the session at `index`.
    mutating func release(_ index: Int) {
        guard !sources.isEmpty, let source = sources.removeValue(forKey: Int32(index)) else { return }
        let count = count(of: source) - 1
        counts[source] = count > 0 ? count : nil
    }
}
