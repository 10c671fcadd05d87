/// A room's tiles as time goes on: who sits where, what is on air, and what was last told of it.
struct RoomLayout: Sendable {
    private(set) var places = LayoutPlaces()
    private(set) var tiles: [Tile] = []
    private var told: LayoutView?
    /// Since when the same hosts wait for their turn.
    private var turnedAt: Double?

    /// The index of a participant's tile; nil without one.
    func position(of sid: String) -> Int? {
        tiles.first { $0.participantSID == sid }?.position
    }

    /// What is on air with some settings.
    func view(_ settings: RoomSettings) -> LayoutView {
        LayoutView(
            settings: settings.layout,
            width: settings.program.width,
            height: settings.program.height,
            tiles: tiles
        )
    }

    /// Brings the tiles in line with the hosts, who are in join order.
    mutating func arrange(_ hosts: [LayoutHost], _ settings: RoomSettings) {
        let plan = LayoutPlanner(settings).plan(hosts, previous: places)
        tiles = plan.layout.tiles
        places = plan.places
    }

    /// Lets those without a tile take turns with those who have one, when it is time.
    ///
    /// - Returns: Whether they did.
    mutating func turn(_ hosts: [LayoutHost], _ settings: RoomSettings, at now: Double) -> Bool {
        guard settings.layout.rotation > 0, hosts.count > tiles.count else {
            turnedAt = nil
            return false
        }
        guard let since = turnedAt else {
            turnedAt = now
            return false
        }
        guard now - since >= Double(settings.layout.rotation) else { return false }
        turnedAt = now
        let plan = LayoutPlanner(settings).plan(hosts, previous: places, isTurning: true)
        tiles = plan.layout.tiles
        places = plan.places
        return true
    }

    /// What is on air, if it is not what was told last; from now on it is.
    mutating func takeChange(_ settings: RoomSettings) -> LayoutView? {
        let view = view(settings)
        guard view != told else { return nil }
        told = view
        return view
    }

    /// One's place, on air or kept in mind, goes to the same person under a new sid.
    mutating func replace(_ old: String, with new: String) {
        places.replace(old, with: new)
    }

    /// Takes over the places of the room's life before a restart; they count from the next `arrange`.
    mutating func restore(_ places: LayoutPlaces) {
        self.places = places
    }
}

extension LayoutPlanner {
    init(_ settings: RoomSettings) {
        self.init(settings: settings.layout, width: settings.program.width, height: settings.program.height)
    }
}
