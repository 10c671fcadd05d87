import FanOut
import Stage

/// The rooms whose program is there for viewers, whoever is on stage.
struct AwaitedPrograms {
    /// What the viewers of a room want of its program.
    struct Wish: Hashable {
        let room: String
        let demand: MixerSupervision.Demand
    }

    private var wishes: Set<Wish> = []

    init() {}

    /// Takes in what viewers want now.
    ///
    /// - Returns: What mixers are to be told: each wish every time, for a room may have ended and another one have its
    ///   name since, and once those that are none any more.
    mutating func look(at wishes: Set<Wish>) -> [(wish: Wish, isOn: Bool)] {
        defer { self.wishes = wishes }
        return self.wishes.subtracting(wishes).map { ($0, false) } + wishes.map { ($0, true) }
    }
}

extension Pipeline {
    /// What the viewers of rooms want of their programs.
    ///
    /// Those who watch one are not to lose it with the last host, nor by a restart of the gateway; and those who came
    /// before the first one see the slate if the room has one of its own for them.
    ///
    /// - Parameter counted: The rooms in which viewers count.
    func viewersWishes(_ counted: [String]) -> Set<AwaitedPrograms.Wish> {
        var rooms = Set(counted).union(hls.awaitedRooms)
        for feed in feeds.all where feed.activity.viewers > 0 {
            if let rendition = RenditionFeedName(feed.name) {
                rooms.insert(rendition.room)
            } else if HostFeedName(feed.name) == nil, ReturnFeedName(feed.name) == nil {
                rooms.insert(feed.name)
            }
        }
        var wishes: Set<AwaitedPrograms.Wish> = []
        for room in rooms where feeds.feed(room) != nil {
            wishes.insert(.init(room: room, demand: .viewers))
            if hasOpeningSlate(room) || hls.isReturning(room) { wishes.insert(.init(room: room, demand: .opening)) }
        }
        return wishes
    }

    private func hasOpeningSlate(_ room: String) -> Bool {
        (try? stage.room(room))?.settings.layout.slates.startingSoon != nil
    }
}
