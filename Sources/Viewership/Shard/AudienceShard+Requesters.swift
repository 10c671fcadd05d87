import Stage

/// Who is served here without a connection that is counted where it was accepted.
extension AudienceShard {
    /// Counts a session among the `requesters`, or no longer; to be called when its phase, its connections or the way in
    /// which it is served have changed.
    mutating func recount(_ place: Int) {
        let session = sessions[place]
        let isHere = session.connections == 0 && !session.isElsewhere && !session.flags.contains(.isRemote)
        let isOne =
            switch session.phase {
            case .vacant, .new, .ended: false
            case .live: isHere && !playback(of: place).isContinuous
            }
        switch session.phase {
        case .vacant: clients.move(place, to: .none, isGone: true)
        case .new: clients.move(place, to: .unproven)
        case .live, .ended: clients.move(place, to: .watching)
        }
        guard isOne != session.isRequester else { return }
        sessions[place].isRequester = isOne
        requesters += isOne ? 1 : -1
    }
}
