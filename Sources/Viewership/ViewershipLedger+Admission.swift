import Media
public import Stage
import Synchronization

/// Identification of requests, reports and log lines.
extension ViewershipLedger {
    /// Returns the session of a request, in order of trust: by the session id in its address, by the player's own
    /// session name (CMCD, `X-Playback-Session-Id`), or a new one.
    public func admit(_ request: PlayerRequest, to room: String) -> ViewerAdmission {
        if request.isHead || request.isPrefetch { return admitUncounted(request, to: room) }
        if let offered = request.sid {
            guard let id = SessionID(offered) else {
                refusedForms.add(1, ordering: .relaxed)
                return .refused
            }
            // Verifies the whole id on each request, because the shard finds a session by its code only.
            guard isGenuine(id, room: room) else { return refuse() }
            // A log, a proxy or a direct request of the player may have facts that the first request lacked.
            let (standing, hasNewFacts) = shards[id.shard].shard.withLock { shard in
                let hasNewFacts =
                    request.isLogged || request.region != nil && shard.lacksRegion(id)
                    || request.isMediaSeen && shard.lacksReceiver(id)
                return (shard.standing(of: id, room: room), hasNewFacts)
            }
            if request.role != .viewer, id.exclusion == nil {
                // The token is of a machine; the id belongs to a viewer that may be playing.
                return admit(self.id(room: room, name: offered, key: nil, exclusion: .role), request, to: room)
            }
            guard let standing, !hasNewFacts else { return admit(id, request, to: room) }
            if request.isStarved { starved(id, room: room) }
            return standing ? .viewer(sid: offered) : .uncounted(sid: offered)
        }
        let key = viewerKey(of: request, room: room)
        let exclusion = exclusion(of: request)
        if let name = request.playbackName {
            if let id = SessionID(name), verify(id, room: room) { return admit(id, request, to: room) }
            return admit(id(room: room, name: name, key: key, exclusion: exclusion), request, to: room)
        }
        let shard = key.map { UInt8($0.shard) } ?? UInt8.random(in: 0..<UInt8(SessionID.shardCount))
        return admit(makeID(room: room, shard: shard, exclusion: exclusion), request, to: room)
    }

    /// Records a stall that a media request signals.
    public func recordPlayerReport(_ request: PlayerRequest, in room: String, on sid: String?) {
        guard request.isStarved else { return }
        // The player's session name takes precedence over the connection, which viewers may share.
        let name = request.playbackName
        let named = name.map { id(room: room, name: $0, key: nil, exclusion: exclusion(of: request)) }
        let offered = name.flatMap { SessionID($0) }.flatMap { isGenuine($0, room: room) ? $0 : nil }
        let ids = [offered, named, sid.flatMap { SessionID($0) }].compactMap(\.self)
        guard let id = ids.first(where: { standing(of: $0, room: room) == true }) else { return }
        starved(id, room: room)
    }

    private func starved(_ id: SessionID, room: String) {
        let now = clock.now.milliseconds
        withShard(id.shard) { $0.starved(id, room: room, at: now) }
    }

    /// Records a report of a player.
    ///
    /// - Parameters:
    ///   - room: The room, when the report has none.
    ///   - player: The request of the report, with its user agent and address.
    /// - Returns: Whether the report is of a known session or of a room with a broadcast.
    @discardableResult
    public func receive(_ report: PlayerReport, room: String?, from player: PlayerRequest = PlayerRequest()) -> Bool {
        guard let sid = report.sid, !sid.isEmpty, sid.utf8.count <= 256 else {
            refusedForms.add(1, ordering: .relaxed)
            return false
        }
        let now = clock.now.milliseconds
        let offered = SessionID(sid)
        guard let room = room ?? offered.flatMap({ self.room(of: $0) }) ?? report.contentID, isOn(room) else {
            return offered == nil ? refuseName() : refuseRoom()
        }
        var report = report
        if report.rendition == nil, let bitrate = report.bitrate {
            report.rendition = roomReports.withLock { $0.rooms[room]?.rendition(of: bitrate) }
        }
        // A text in the form of an id that matches no room is the player's own name.
        if let id = offered, id.roomHash == SessionID.stableHash(room) || self.room(of: id) != nil {
            guard isGenuine(id, room: room) else {
                refusedCodes.add(1, ordering: .relaxed)
                return true
            }
            withShard(id.shard) { shard in
                shard.reported(report, id: id, room: room, at: now) { clientIdentity(of: player, id: id, room: room) }
            }
            return true
        }
        // An unsigned name can be forged, so its address is the source.
        let source = player.address.map { Self.source($0) }
        let id = id(reporting: sid, in: room, from: source, exclusion: exclusion(of: player))
        withShard(id.shard) { shard in
            shard.reported(report, id: id, room: room, source: source, at: now) {
                clientIdentity(of: player, id: id, room: room)
            }
        }
        return true
    }

    /// Records an access log line of a server in front.
    ///
    /// - Returns: Whether the room has a broadcast; a cache may continue to serve after its end.
    @discardableResult
    public func receive(_ line: AccessLogLine) -> Bool {
        guard isOn(line.room) else { return refuseRoom() }
        guard SessionID(line.sid).map({ isGenuine($0, room: line.room) }) ?? false else {
            refusedCodes.add(1, ordering: .relaxed)
            return true
        }
        let now = clock.now
        let kind: AudienceEvent.Kind = line.isPlaylist ? .playlistServed : .segmentServed
        let event = AudienceEvent(
            sid: line.sid,
            room: line.room,
            playback: line.isLowLatency ? .llhls : .hls,
            rendition: line.rendition,
            kind: kind,
            at: now,
            began: line.duration.map { now.advanced(milliseconds: Int64(-$0)) },
            bytes: line.bytes,
            isServedElsewhere: true,
            isMediaSeen: logsIncludeMedia.load(ordering: .relaxed)
        )
        record(event)
        return true
    }

    /// Records a media line of the access log of a server in front.
    ///
    /// From the first such line on, sessions in its logs need media to qualify.
    public func receive(_ line: MediaAccessLogLine) {
        logsIncludeMedia.store(true, ordering: .relaxed)
        mediaServed(in: line.room, to: line.client, over: nil, at: clock.now)
    }

    /// Counts a malformed log line or datagram.
    public func countMalformedLogLine() {
        refusedLines.add(1, ordering: .relaxed)
    }

    /// Counts a datagram of an untrusted sender.
    public func countUntrustedLogLine() {
        refusedSenders.add(1, ordering: .relaxed)
    }

    /// Counts a HEAD request or prefetch, without a session.
    private func admitUncounted(_ request: PlayerRequest, to room: String) -> ViewerAdmission {
        if let offered = request.sid {
            guard accepts(sid: offered, room: room) else { return .refused }
        }
        let id =
            request.sid.flatMap { SessionID($0) }
            ?? makeID(room: room, shard: UInt8.random(in: 0..<UInt8(SessionID.shardCount)))
        withShard(id.shard) { $0.countExcluded(room: room, request.isHead ? .head : .prefetch) }
        return .uncounted(sid: id.text)
    }

    private func admit(_ id: SessionID, _ request: PlayerRequest, to room: String) -> ViewerAdmission {
        let clientIdentity = clientIdentity(of: request, id: id, room: room)
        let now = clock.now.milliseconds
        let admission = withShard(id.shard) { shard in
            shard.admit(
                id,
                room: room,
                clientIdentity: clientIdentity,
                at: now,
                mayBegin: { clientIdentity.account.map { clients.mayBegin($0) } ?? true },
                verify: { verify(id, room: room) }
            )
        }
        switch admission {
        case .foreign: return .refused
        case .crowded: return .crowded
        case .viewer, .uncounted: break
        }
        if request.isStarved { starved(id, room: room) }
        return admission == .viewer ? .viewer(sid: id.text) : .uncounted(sid: id.text)
    }

    private func clientIdentity(of request: PlayerRequest, id: SessionID, room: String) -> ClientIdentity {
        let agent = UserAgent(request.userAgent, robots: robotList)
        var clientIdentity = ClientIdentity()
        clientIdentity.client = agent.client
        clientIdentity.region = Region.normalized(request.region)
        // All sessions of a viewer are in one shard; an id that was issued before may be in another.
        if let key = viewerKey(of: request, room: room), key.shard == id.shard { clientIdentity.key = key }
        if !clientIdentity.region.isEmpty { clientIdentity.regionSource = .declared }
        if clientIdentity.region.isEmpty, !request.isSharedAddress, let address = request.address {
            clientIdentity.region = self.region(of: address)
            clientIdentity.regionSource = .database
        }
        if clientIdentity.region.isEmpty {
            clientIdentity.region = Region.normalized(configuration.region)
            clientIdentity.regionSource = .configured
        }
        if !request.isSharedAddress { clientIdentity.receiver = request.address.flatMap { PeerAddress($0)?.account } }
        if request.identity == nil { clientIdentity.account = clientIdentity.receiver }
        // A shared address says nothing about its viewers.
        if let address = request.address, !request.isSharedAddress {
            let date = wallClock.date(of: clock.now.milliseconds)
            let salt = salt.withLock { $0.key(at: date) }
            clientIdentity.estimate =
                ViewerKey(address: address, userAgent: request.userAgent ?? "", room: room, salt: salt).value
        }
        clientIdentity.exclusion = exclusion(of: request, agent)
        return clientIdentity
    }

    /// Returns the exclusion by token and user agent; nil for a viewer.
    private func exclusion(of request: PlayerRequest, _ agent: UserAgent? = nil) -> ExclusionReason? {
        if request.role != .viewer { return .role }
        return (agent ?? UserAgent(request.userAgent, robots: robotList)).isUncounted ? .agent : nil
    }

    private func refuse() -> ViewerAdmission {
        refusedCodes.add(1, ordering: .relaxed)
        return .refused
    }

    /// Whether the room has a broadcast; in other rooms no viewers are counted.
    private func isOn(_ room: String) -> Bool {
        roomReports.withLock { roomReports in roomReports.rooms[room].map { $0.ended == nil } ?? false }
    }

    private func refuseName() -> Bool {
        refusedCodes.add(1, ordering: .relaxed)
        return false
    }

    private func refuseRoom() -> Bool {
        refusedRooms.add(1, ordering: .relaxed)
        return false
    }

    /// Returns the client of an address.
    private static func source(_ address: String) -> UInt64 {
        PeerAddress(address)?.account ?? ViewerKey.hash(address)
    }

    /// Whether a verified session may count; nil for an unknown or unverified id.
    private func standing(of id: SessionID, room: String) -> Bool? {
        shards[id.shard].shard.withLock { $0.standing(of: id, room: room) }
    }

    private func viewerKey(of request: PlayerRequest, room: String) -> ViewerKey? {
        if let identity = request.identity { return ViewerKey(user: identity, room: room) }
        guard let device = request.device, (16...64).contains(device.utf8.count) else { return nil }
        return ViewerKey(device: device, room: room)
    }

    /// Returns the id of a player with its own session name; during a key rotation the known one.
    private func id(room: String, name: String, key: ViewerKey?, exclusion: ExclusionReason?) -> SessionID {
        let keys = keys.withLock { $0 }
        let shard = key?.shard ?? SessionKeys.shard(room: room, name: name)
        let ids = keys.ids(room: room, name: name, shard: shard, exclusion: exclusion)
        return ids.dropFirst().first { standing(of: $0, room: room) != nil } ?? ids[0]
    }

    /// Returns the id of a reporting player, whose reports carry neither a token nor a device id.
    ///
    /// Its requests may have carried one; then its session is in the viewer's shard, or is excluded.
    private func id(
        reporting name: String,
        in room: String,
        from source: UInt64?,
        exclusion: ExclusionReason?
    ) -> SessionID {
        let usual = id(room: room, name: name, key: nil, exclusion: exclusion)
        guard standing(of: usual, room: room) == nil else { return usual }
        // A source beyond its limit of unsigned names is not looked up in all shards.
        if let source, withShard(usual.shard, { !$0.allowsUnverifiedSession(from: source) }) { return usual }
        let keys = keys.withLock { $0 }
        let hash = SessionKeys.hash(room: room, name: name)
        for shard in shards.indices {
            for reason in [exclusion, ExclusionReason.role] {
                let ids = keys.ids(room: room, hash: hash, shard: shard, exclusion: reason)
                if let known = ids.first(where: { standing(of: $0, room: room) != nil }) { return known }
            }
        }
        return usual
    }

    /// Returns the room that an id was signed for, if it has a broadcast.
    private func room(of id: SessionID) -> String? {
        roomReports.withLock { $0.rooms.keys.first { SessionID.stableHash($0) == id.roomHash } }
    }
}

extension PlayerRequest {
    /// Whether a browser prefetches or shows a preview.
    fileprivate var isPrefetch: Bool {
        guard let purpose = purpose?.lowercased() else { return false }
        return purpose.contains("prefetch") || purpose.contains("preview") || purpose.contains("prerender")
    }

    /// Whether the player signals buffer starvation since its previous request (CMCD version 1, `bs`).
    fileprivate var isStarved: Bool {
        // Few requests have the key, and parsing is expensive.
        guard [cmcd, cmcdStatus].contains(where: { $0?.contains("bs") ?? false }) else { return false }
        var items = cmcd.map { CMCDItems(query: $0) } ?? CMCDItems()
        if let cmcdStatus { items.merge(cmcdStatus) }
        return items.values["bs"].map { $0 != "false" && $0 != "?0" } ?? false
    }

    /// The player's own session name.
    fileprivate var playbackName: String? {
        var items = cmcd.map { CMCDItems(query: $0) } ?? CMCDItems()
        if let cmcdSession { items.merge(cmcdSession) }
        let name = items.values["sid"] ?? playbackSessionID
        guard let name, !name.isEmpty, name.utf8.count <= 256 else { return nil }
        return name
    }
}
