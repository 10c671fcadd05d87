import Media
public import Stage
import Synchronization

/// Who is behind a request.
extension ViewershipLedger {
    /// Says whose session a request belongs to, by what it says in order of trust: the session id in its address, the
    /// name that the player gives its playback (CMCD, `X-Playback-Session-Id`), and otherwise a new one.
    public func admit(_ request: PlayerRequest, to room: String) -> ViewerAdmission {
        if request.isHead || request.isPrefetch { return admitAside(request, to: room) }
        if let offered = request.sid {
            guard let id = SessionID(offered) else {
                refusedForms.add(1, ordering: .relaxed)
                return .refused
            }
            // Whole and each time: a session that is known is found by parts of its id.
            guard isGenuine(id, room: room) else { return refuse() }
            // A log knows better who it is than the server that asked for it at first, and so does a proxy that says it late,
            // or the player itself that comes directly.
            let (standing, isNews) = owners[id.shard].shard.withLock { shard in
                let isNews =
                    request.isLogged || request.region != nil && shard.lacksRegion(id)
                    || request.isMediaSeen && shard.lacksReceiver(id)
                return (shard.standing(of: id, room: room), isNews)
            }
            if request.role != .viewer, id.exclusion == nil {
                // The token says what it is; the id is a viewer's, who may be playing by it.
                return admit(self.id(room: room, name: offered, key: nil, exclusion: .role), request, to: room)
            }
            guard let standing, !isNews else { return admit(id, request, to: room) }
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

    /// Takes what a request for media itself says of how its player fares: whether it waited for the media.
    public func hear(_ request: PlayerRequest, in room: String, on sid: String?) {
        guard request.isStarved else { return }
        // What the player calls its playback goes before the connection, which may be one that many share.
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

    /// Takes what a player says of its own playing.
    ///
    /// - Parameters:
    ///   - room: what it plays, where the report does not say.
    ///   - player: what the request that brought it says: its name for itself, and where it comes from.
    /// - Returns: whether the report is of a session of ours or of a room that is on.
    @discardableResult
    public func take(_ report: PlayerReport, room: String?, from player: PlayerRequest = PlayerRequest()) -> Bool {
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
            report.rendition = book.withLock { $0.rooms[room]?.rendition(of: bitrate) }
        }
        // What has the form of an id, and names no room of ours, is a name that the player made up.
        if let id = offered, id.roomHash == SessionID.stableHash(room) || self.room(of: id) != nil {
            guard isGenuine(id, room: room) else {
                refusedCodes.add(1, ordering: .relaxed)
                return true
            }
            withShard(id.shard) { shard in
                shard.reported(report, id: id, room: room, at: now) { visitor(of: player, id: id, room: room) }
            }
            return true
        }
        // Anybody can make up a name, so that what stands behind it is the address.
        let source = player.address.map { Self.source($0) }
        let id = id(reporting: sid, in: room, from: source, exclusion: exclusion(of: player))
        withShard(id.shard) { shard in
            shard.reported(report, id: id, room: room, source: source, at: now) {
                visitor(of: player, id: id, room: room)
            }
        }
        return true
    }

    /// Takes one line of the access log of a server in front of us.
    ///
    /// - Returns: whether it told of a room that is on: a cache may go on to answer when one is over.
    @discardableResult
    public func take(_ line: BeatLine) -> Bool {
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
            isElsewhere: true,
            isMediaSeen: areBeatsOfMedia.load(ordering: .relaxed)
        )
        record(event)
        return true
    }

    /// Takes one line about media of the access log of a server in front of us.
    ///
    /// From the first one on, those whose playlists it tells of are viewers only with media.
    public func take(_ line: MediaBeatLine) {
        areBeatsOfMedia.store(true, ordering: .relaxed)
        mediaServed(in: line.room, to: line.client, over: nil, at: clock.now)
    }

    /// A line of a log, or a datagram, that says nothing.
    public func countMalformedBeat() {
        refusedLines.add(1, ordering: .relaxed)
    }

    /// A datagram of somebody who is not believed.
    public func countForeignBeat() {
        refusedSenders.add(1, ordering: .relaxed)
    }

    /// Answers what is no viewing at all: it is counted as such, and leaves no session behind.
    private func admitAside(_ request: PlayerRequest, to room: String) -> ViewerAdmission {
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
        let visitor = visitor(of: request, id: id, room: room)
        let now = clock.now.milliseconds
        let admission = withShard(id.shard) { shard in
            shard.admit(
                id,
                room: room,
                visitor: visitor,
                at: now,
                mayBegin: { visitor.account.map { clients.mayBegin($0) } ?? true },
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

    private func visitor(of request: PlayerRequest, id: SessionID, room: String) -> Visitor {
        let agent = UserAgent(request.userAgent, robots: robotList)
        var visitor = Visitor()
        visitor.client = agent.client
        visitor.region = Region.normalized(request.region)
        // A viewer's sessions are all in one shard; an id that was made before it was known is elsewhere.
        if let key = viewerKey(of: request, room: room), key.shard == id.shard { visitor.key = key }
        if !visitor.region.isEmpty { visitor.regionSource = .told }
        if visitor.region.isEmpty, !request.isOfMany, let address = request.address {
            visitor.region = self.region(of: address)
            visitor.regionSource = .database
        }
        if visitor.region.isEmpty {
            visitor.region = Region.normalized(configuration.region)
            visitor.regionSource = .home
        }
        if !request.isOfMany { visitor.receiver = request.address.flatMap { PeerAddress($0)?.account } }
        if request.identity == nil { visitor.account = visitor.receiver }
        // The address of one that stands for many tells nothing of any of them.
        if let address = request.address, !request.isOfMany {
            let date = wall.date(of: clock.now.milliseconds)
            let salt = salt.withLock { $0.key(at: date) }
            visitor.estimate =
                ViewerKey(address: address, userAgent: request.userAgent ?? "", room: room, salt: salt).value
        }
        visitor.exclusion = exclusion(of: request, agent)
        return visitor
    }

    /// Why what asks never counts, by its token and its name for itself; nil for a viewer.
    private func exclusion(of request: PlayerRequest, _ agent: UserAgent? = nil) -> Exclusion? {
        if request.role != .viewer { return .role }
        return (agent ?? UserAgent(request.userAgent, robots: robotList)).isUncounted ? .agent : nil
    }

    private func refuse() -> ViewerAdmission {
        refusedCodes.add(1, ordering: .relaxed)
        return .refused
    }

    /// Whether the room was begun and has not ended; in any other, what is told of viewers counts nobody.
    private func isOn(_ room: String) -> Bool {
        book.withLock { book in book.rooms[room].map { $0.ended == nil } ?? false }
    }

    private func refuseName() -> Bool {
        refusedCodes.add(1, ordering: .relaxed)
        return false
    }

    private func refuseRoom() -> Bool {
        refusedRooms.add(1, ordering: .relaxed)
        return false
    }

    /// The client that an address stands for.
    private static func source(_ address: String) -> UInt64 {
        PeerAddress(address)?.account ?? ViewerKey.hash(address)
    }

    /// Whether the id is known and proven, and may count; nil for one that is not.
    private func standing(of id: SessionID, room: String) -> Bool? {
        owners[id.shard].shard.withLock { $0.standing(of: id, room: room) }
    }

    private func viewerKey(of request: PlayerRequest, room: String) -> ViewerKey? {
        if let identity = request.identity { return ViewerKey(user: identity, room: room) }
        guard let device = request.device, (16...64).contains(device.utf8.count) else { return nil }
        return ViewerKey(device: device, room: room)
    }

    /// The id of a player that names its playback itself; over a rotation of keys the one that is known.
    private func id(room: String, name: String, key: ViewerKey?, exclusion: Exclusion?) -> SessionID {
        let keys = keys.withLock { $0 }
        let shard = key?.shard ?? SessionKeys.shard(room: room, name: name)
        let ids = keys.ids(room: room, name: name, shard: shard, exclusion: exclusion)
        return ids.dropFirst().first { standing(of: $0, room: room) != nil } ?? ids[0]
    }

    /// The id of a player that is known by a report, which shows neither a token nor the id of a device.
    ///
    /// Its requests may have shown one. Then its session is with the others of that viewer, or says that it never
    /// counts.
    private func id(reporting name: String, in room: String, from source: UInt64?, exclusion: Exclusion?) -> SessionID {
        let usual = id(room: room, name: name, key: nil, exclusion: exclusion)
        guard standing(of: usual, room: room) == nil else { return usual }
        // One that makes up more names than it may have is not looked for.
        if let source, withShard(usual.shard, { !$0.takesStranger(from: source) }) { return usual }
        let keys = keys.withLock { $0 }
        let hash = SessionKeys.hash(room: room, name: name)
        for shard in owners.indices {
            for reason in [exclusion, Exclusion.role] {
                let ids = keys.ids(room: room, hash: hash, shard: shard, exclusion: reason)
                if let known = ids.first(where: { standing(of: $0, room: room) != nil }) { return known }
            }
        }
        return usual
    }

    /// The room whose name an id was signed for, if it is on.
    private func room(of id: SessionID) -> String? {
        book.withLock { $0.rooms.keys.first { SessionID.stableHash($0) == id.roomHash } }
    }
}

extension PlayerRequest {
    /// A browser fetches ahead, or shows a preview; nobody watches.
    fileprivate var isPrefetch: Bool {
        guard let purpose = purpose?.lowercased() else { return false }
        return purpose.contains("prefetch") || purpose.contains("preview") || purpose.contains("prerender")
    }

    /// It waited for media at some time since its request before, it says (CMCD version 1, `bs`).
    fileprivate var isStarved: Bool {
        // Few say it, and to take the items apart is dear.
        guard [cmcd, cmcdStatus].contains(where: { $0?.contains("bs") ?? false }) else { return false }
        var items = cmcd.map { CMCDItems(query: $0) } ?? CMCDItems()
        if let cmcdStatus { items.merge(cmcdStatus) }
        return items.values["bs"].map { $0 != "false" && $0 != "?0" } ?? false
    }

    /// What the player calls its playback.
    fileprivate var playbackName: String? {
        var items = cmcd.map { CMCDItems(query: $0) } ?? CMCDItems()
        if let cmcdSession { items.merge(cmcdSession) }
        let name = items.values["sid"] ?? playbackSessionID
        guard let name, !name.isEmpty, name.utf8.count <= 256 else { return nil }
        return name
    }
}
