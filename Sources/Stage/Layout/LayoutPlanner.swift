/// Turns a room's hosts into tiles.
///
/// Pure: the same hosts, settings and places always give the same tiles. Whoever has a place keeps it as long as the
/// arrangement has that place; `LayoutCast` says who is shown.
///
/// - GRID: everybody, as many as the grid's size says. With priority PIN the pinned ones have the first places. While a
///   screen is the large tile, the others keep their order in a grid at the side.
/// - SIDEBAR: one host large, the others in a strip.
/// - SPOTLIGHT: with priority PIN the pinned hosts alone, and if one of them has a pinned screen, only that; with
///   priority SPEAKER, and when nobody is pinned, one host alone.
public struct LayoutPlanner: Sendable {
    /// How the tiles are arranged.
    public let settings: LayoutSettings
    /// Canvas width in pixels, even.
    public let width: Int
    /// Canvas height in pixels, even.
    public let height: Int

    /// Makes a planner for a canvas.
    public init(settings: LayoutSettings, width: Int, height: Int) {
        self.settings = settings
        self.width = width
        self.height = height
    }

    /// What a room with these hosts would show from its beginning.
    ///
    /// - Parameters:
    ///   - settings: How the tiles are arranged.
    ///   - width: Canvas width in pixels, even.
    ///   - height: Canvas height in pixels, even.
    ///   - hosts: In join order, each sid once.
    public static func preview(
        settings: LayoutSettings,
        width: Int,
        height: Int,
        hosts: [LayoutHost]
    ) -> LayoutView {
        LayoutPlanner(settings: settings, width: width, height: height).plan(hosts).layout
    }

    /// The tiles for some hosts, and who sits where from now on.
    ///
    /// - Parameters:
    ///   - hosts: In join order, each sid once; nobody but hosts.
    ///   - previous: The places of the plan before.
    ///   - isTurning: Whether those without a place take turns now with those who have one.
    public func plan(
        _ hosts: [LayoutHost],
        previous: LayoutPlaces = .init(),
        isTurning: Bool = false
    ) -> (layout: LayoutView, places: LayoutPlaces) {
        let cast = LayoutCast(hosts, settings, cameIntoView: previous.cameIntoView ?? [:])
        let isSameKind = previous.kind == settings.kind
        let main = main(cast, previous: isSameKind ? previous.main : nil, seats: previous.seats)
        var places = LayoutPlaces()
        places.kind = settings.kind
        places.main = main
        places.seats = cast.choose(hosts.map(\.sid), capacity: gridSize, main: main, previous: previous.seats)
        places.lastInTurn = previous.lastInTurn
        if isTurning, settings.kind == .grid {
            cast.turn(&places.seats, main: main, last: &places.lastInTurn)
        }
        if settings.kind == .grid, settings.priority == .pin { places.seats = cast.pinnedFirst(places.seats) }
        places.others = others(cast, places: places, previous: isSameKind ? previous : .init())
        if isTurning, settings.kind == .sidebar {
            cast.turn(&places.others, main: main, last: &places.lastInTurn)
        }
        let shown = [main].compactMap(\.self) + places.others
        let before = [previous.main].compactMap(\.self) + previous.others
        places.cameIntoView = cast.cameIntoView(shown, before: before)
        return (LayoutView(settings: settings, width: width, height: height, tiles: tiles(shown, cast, places)), places)
    }

    private var gridSize: Int { min(max(settings.gridSize, 1), GridLayout.maximumTiles) }

    /// Who is the large tile; nil for a grid of equals.
    private func main(_ cast: LayoutCast, previous: String?, seats: [String]) -> String? {
        switch settings.kind {
        case .grid:
            guard settings.autoSwitchOnScreenShare else { return nil }
            return cast.presenter(previous: previous)?.sid
        case .sidebar:
            return cast.main(previous: previous, seats: seats)?.sid
        case .spotlight:
            let isGroup = settings.priority == .pin && !cast.pinned.isEmpty
            if isGroup, !cast.pinned.contains(where: \.isScreenPinned) { return nil }
            return cast.main(previous: previous, seats: seats)?.sid
        }
    }

    /// Who else is shown, by place.
    private func others(_ cast: LayoutCast, places: LayoutPlaces, previous: LayoutPlaces) -> [String] {
        switch settings.kind {
        case .grid:
            return places.seats.filter { $0 != places.main }
        case .sidebar:
            let strip = SidebarLayout.places(width: width, height: height, orientation: settings.orientation)
            let before = [previous.main].compactMap(\.self) + previous.others
            let capacity = min(gridSize, strip + 1)
            var candidates = places.seats
            // Who has no place in the grid takes turns as well.
            if settings.rotation > 0 { candidates += cast.hosts.map(\.sid).filter { !places.seats.contains($0) } }
            let shown = cast.choose(candidates, capacity: capacity, main: places.main, previous: before)
            let rest = candidates.filter { shown.contains($0) && $0 != places.main }
            return StablePlaces.arrange(previous: previous.others, next: rest)
        case .spotlight:
            guard places.main == nil else { return [] }
            let pinned = cast.pinned.map(\.sid).prefix(gridSize)
            return StablePlaces.arrange(previous: previous.others, next: Array(pinned))
        }
    }

    private func tiles(_ shown: [String], _ cast: LayoutCast, _ places: LayoutPlaces) -> [Tile] {
        let rectangles = rectangles(shown.count, hasMain: places.main != nil)
        return zip(shown, rectangles).enumerated().compactMap { position, place in
            guard let host = cast.hosts.first(where: { $0.sid == place.0 }) else { return nil }
            // The large one of a sidebar is seen whole, as is every screen.
            let isWhole = host.hasScreen || (settings.kind == .sidebar && position == 0)
            return Tile(
                position: position,
                participantSID: host.sid,
                source: host.source,
                rectangle: place.1,
                scaleMode: isWhole ? .fit : settings.scaleMode,
                label: host.label,
                isMicOn: host.isMicOn,
                avatar: host.avatar,
                isInStrip: settings.kind == .sidebar && position > 0
            )
        }
    }

    private func rectangles(_ count: Int, hasMain: Bool) -> [TileRectangle] {
        let orientation = settings.orientation
        switch settings.kind {
        case .grid where hasMain:
            return PresentationLayout.rectangles(count: count, width: width, height: height, orientation: orientation)
        case .sidebar:
            return SidebarLayout.rectangles(count: count, width: width, height: height, orientation: orientation)
        case .grid, .spotlight:
            return GridLayout.rectangles(count: count, width: width, height: height, orientation: orientation)
        }
    }
}
