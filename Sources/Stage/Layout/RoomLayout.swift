/// A room's layout over time: placements, tiles, and the last announced layout.
struct RoomLayout: Sendable {
    private(set) var placements = TilePlacements()
    private(set) var tiles: [Tile] = []
    private var lastAnnounced: LayoutView?
    /// Since when the same hosts are hidden.
    private var rotatedAt: Double?

    /// Returns the index of a participant's tile; nil without one.
    func position(of sid: String) -> Int? {
        tiles.first { $0.participantSID == sid }?.position
    }

    /// Returns the current layout with some settings.
    func view(_ settings: RoomSettings) -> LayoutView {
        LayoutView(
            settings: settings.layout,
            width: settings.program.width,
            height: settings.program.height,
            tiles: tiles
        )
    }

    /// Updates the tiles from the hosts, which are in their order on stage.
    mutating func arrange(_ hosts: [LayoutHost], _ settings: RoomSettings) {
        let plan = LayoutPlanner(settings).plan(hosts, previous: placements)
        tiles = plan.layout.tiles
        placements = plan.places
    }

    /// Rotates hidden hosts in, when the interval has passed.
    ///
    /// - Returns: Whether the tiles rotated.
    mutating func rotate(_ hosts: [LayoutHost], _ settings: RoomSettings, at now: Double) -> Bool {
        guard settings.layout.rotation > 0, hosts.count > tiles.count else {
            rotatedAt = nil
            return false
        }
        guard let since = rotatedAt else {
            rotatedAt = now
            return false
        }
        guard now - since >= Double(settings.layout.rotation) else { return false }
        rotatedAt = now
        let plan = LayoutPlanner(settings).plan(hosts, previous: placements, isRotating: true)
        tiles = plan.layout.tiles
        placements = plan.places
        return true
    }

    /// Returns the current layout if it differs from the last announced one, and records it as announced.
    mutating func changeToAnnounce(_ settings: RoomSettings) -> LayoutView? {
        let view = view(settings)
        guard view != lastAnnounced else { return nil }
        lastAnnounced = view
        return view
    }

    /// Transfers the position of a participant to its new sid.
    mutating func replace(_ old: String, with new: String) {
        placements.replace(old, with: new)
    }

    /// Restores stored placements; they apply from the next `arrange`.
    mutating func restore(_ placements: TilePlacements) {
        self.placements = placements
    }
}

extension LayoutPlanner {
    init(_ settings: RoomSettings) {
        self.init(
            settings: settings.layout,
            width: settings.program.width,
            height: settings.program.height,
            isOrdered: settings.hostOrder != nil
        )
    }
}

/// The positions of a room's hosts in the previous layout; a new layout moves as few as possible.
public struct TilePlacements: Sendable, Hashable, Codable {
    /// Sids by grid position; updated in every layout, so that the grid is stable across changes.
    public internal(set) var seats: [String]
    /// The layout that `main` and `others` belong to.
    public internal(set) var kind: LayoutSettings.Kind?
    /// The sid in the large tile; nil without one.
    public internal(set) var main: String?
    /// Sids beside the large tile, or the visible part of a grid.
    public internal(set) var others: [String]
    /// The last sid that rotated in; nil without rotation.
    public internal(set) var lastInTurn: String?
    /// The order in which sids became visible; nil as long as all are visible.
    public internal(set) var cameIntoView: [String: Int]?

    /// Creates empty placements.
    public init() {
        seats = []
        main = nil
        others = []
    }

    /// Replaces a sid.
    mutating func replace(_ old: String, with new: String) {
        seats = seats.map { $0 == old ? new : $0 }
        others = others.map { $0 == old ? new : $0 }
        if main == old { main = new }
        if let moment = cameIntoView?.removeValue(forKey: old) { cameIntoView?[new] = moment }
        if lastInTurn == old { lastInTurn = new }
    }
}
