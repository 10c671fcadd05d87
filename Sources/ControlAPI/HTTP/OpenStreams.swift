import Media
import Stage
import Synchronization

/// The event streams that participants have open: a few for each, and never all that the gateway has.
final class OpenStreams: Sendable {
    /// Whose a stream is: an identity, as far as its token goes, in one room or in all of them.
    struct Owner: Hashable {
        let identity: String
        /// The room of the token.
        let bound: String?
        /// The room that is followed; nil for a stream of the identity.
        let roomSID: String?
    }

    private struct Place {
        let id: UInt64
        weak var stream: OpenStream?
    }

    private struct State {
        var places: [Owner: [Place]] = [:]
        var count = 0
        var lastID: UInt64 = 0
    }

    /// Streams of one owner; one more, and the oldest ends.
    static let placesPerOwner = 4

    private let state = Mutex(State())

    /// Refuses a participant while participants have nine tenths of all streams there may be.
    ///
    /// - Throws: 53006.
    func requirePlace(within limit: Int) throws(StageError) {
        guard state.withLock({ $0.count }) < limit - limit / 10 else { throw .serverBusy(retryAfter: 5) }
    }

    /// Takes up a stream.
    ///
    /// - Parameters:
    ///   - owner: Nil for one that is not counted.
    ///   - place: Its client's, held until it ends.
    func open(_ subscription: EventSubscription, owner: Owner?, place: ClientPlace? = nil) -> OpenStream {
        guard let owner else { return OpenStream(subscription) { place?.leave() } }
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let stream = OpenStream(subscription) { [weak self] in
            place?.leave()
            self?.close(id, of: owner)
        }
        // Only looked into outside of the lock: letting a stream go takes the lock.
        let oldest = state.withLock { state -> Place? in
            var places = state.places[owner] ?? []
            let oldest = places.count >= Self.placesPerOwner ? places.removeFirst() : nil
            places.append(Place(id: id, stream: stream))
            state.places[owner] = places
            if oldest == nil { state.count += 1 }
            return oldest
        }
        oldest?.stream?.replace()
        return stream
    }

    private func close(_ id: UInt64, of owner: Owner) {
        state.withLock { state in
            guard let index = state.places[owner]?.firstIndex(where: { $0.id == id }) else { return }
            state.places[owner]?.remove(at: index)
            if state.places[owner]?.isEmpty ?? false { state.places[owner] = nil }
            state.count -= 1
        }
    }
}
