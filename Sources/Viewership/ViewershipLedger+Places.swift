public import Stage
import Synchronization

/// Rooms whose audience is limited.
extension ViewershipLedger {
    /// Lets a room have so many viewers at most from now on; nil for any number.
    ///
    /// Who is there already stays.
    public func limitAudience(of room: String, to limit: Int?) {
        for index in owners.indices { withShard(index) { $0.ignorePlaces(of: room) } }
        places.limit(room, to: limit)
        guard limit != nil else { return }
        for index in owners.indices { withShard(index) { $0.followPlaces(of: room) } }
    }

    /// Whether a player may be let in: there is a place for it, it has one, or it is no audience.
    public func hasPlace(in room: String, for player: PlayerRequest) -> Bool {
        !places.isFull(room) || holdsPlace(in: room, player)
    }

    /// A place for a connection until it is proven to watch; nil when there is none.
    public func takePlace(in room: String, for player: PlayerRequest) -> AudiencePlace? {
        guard places.isLimited(room), !holdsPlace(in: room, player) else { return .unlimited }
        return places.reserve(room)
    }

    private func holdsPlace(in room: String, _ player: PlayerRequest) -> Bool {
        if player.role != .viewer { return true }
        if let id = player.sid.flatMap({ SessionID($0) }), isGenuine(id, room: room),
            owners[id.shard].shard.withLock({ $0.holdsPlace(id, room: room) })
        {
            return true
        }
        guard let identity = player.identity else { return false }
        let key = ViewerKey(user: identity, room: room)
        return owners[key.shard].shard.withLock { $0.holdsPlace(key) }
    }
}
