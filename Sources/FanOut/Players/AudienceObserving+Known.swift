import Stage

extension AudienceObserving {
    /// Whether a player shows a session id of ours for `room`.
    func knows(_ player: PlayerRequest, in room: String) -> Bool {
        player.sid.map { accepts(sid: $0, room: room) } ?? false
    }
}
