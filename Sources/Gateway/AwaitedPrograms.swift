import FanOut
import Stage

/// The rooms whose program is there for viewers, whoever is on stage.
struct AwaitedPrograms {
    private var rooms: Set<String> = []

    init() {}

    /// Takes in which rooms those are now.
    ///
    /// - Returns: What mixers are to be told: each of them every time, for a room may have ended and another one have
    ///   its name since, and once those that are none any more.
    mutating func look(at awaited: Set<String>) -> [(room: String, isAwaited: Bool)] {
        defer { rooms = awaited }
        return rooms.subtracting(awaited).map { ($0, false) } + awaited.map { ($0, true) }
    }
}

extension Pipeline {
    /// The rooms with somebody to be shown a program.
    ///
    /// Those who watch one are not to lose it with the last host, and those who came before the first one see the slate
    /// if the room has one of its own for them.
    ///
    /// - Parameter counted: The rooms in which viewers count.
    func awaitedRooms(_ counted: [String]) -> Set<String> {
        var rooms = Set(counted).union(hls.awaitedRooms)
        for feed in feeds.all where feed.activity.viewers > 0 {
            if let rendition = RenditionFeedName(feed.name) {
                rooms.insert(rendition.room)
            } else if HostFeedName(feed.name) == nil, ReturnFeedName(feed.name) == nil {
                rooms.insert(feed.name)
            }
        }
        return rooms.filter { room in
            guard let feed = feeds.feed(room) else { return false }
            return feed.activity.packets > 0 || hasOpeningSlate(room)
        }
    }

    private func hasOpeningSlate(_ room: String) -> Bool {
        (try? stage.room(room))?.settings.layout.slates.startingSoon != nil
    }
}
