/// Arranges a room's hosts in tiles.
///
/// Pure: the same hosts, settings and placements always give the same tiles. A host keeps its position as long as the
/// layout has it, unless the hosts are in an order that somebody set, which positions then follow; `LayoutHosts` selects
/// the visible hosts.
///
/// - GRID: all hosts up to the grid size. With priority PIN the pinned ones have the first positions. While a screen is
///   the large tile, the others keep their order in a grid at the side.
/// - SIDEBAR: one host large, the others in a strip.
/// - SPOTLIGHT: with priority PIN the pinned hosts alone, and if one of them has a pinned screen, only that; with
///   priority SPEAKER, and without pins, one host alone.
public struct LayoutPlanner: Sendable {
    /// The layout settings.
    public let settings: LayoutSettings
    /// Canvas width in pixels, even.
    public let width: Int
    /// Canvas height in pixels, even.
    public let height: Int
    /// Whether positions follow the order of the hosts.
    public let isOrdered: Bool

    /// Creates a planner for a canvas.
    public init(settings: LayoutSettings, width: Int, height: Int, isOrdered: Bool = false) {
        self.settings = settings
        self.width = width
        self.height = height
        self.isOrdered = isOrdered
    }

    /// Returns the layout of a new room with these hosts.
    ///
    /// - Parameters:
    ///   - settings: The layout settings.
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

    /// Returns the tiles for some hosts, and their placements.
    ///
    /// - Parameters:
    ///   - hosts: In join order, or the one that somebody set; each sid once; hosts only.
    ///   - previous: The placements of the previous layout.
    ///   - isRotating: Whether hidden hosts rotate in now.
    public func plan(
        _ hosts: [LayoutHost],
        previous: TilePlacements = .init(),
        isRotating: Bool = false
    ) -> (layout: LayoutView, places: TilePlacements) {
        let layoutHosts = LayoutHosts(
            hosts,
            settings,
            isOrdered: isOrdered,
            cameIntoView: previous.cameIntoView ?? [:]
        )
        let isSameKind = previous.kind == settings.kind
        let main = main(
            layoutHosts,
            previous: isSameKind ? previous.main : nil,
            seats: isOrdered ? hosts.map(\.sid) : previous.seats
        )
        var places = TilePlacements()
        places.kind = settings.kind
        places.main = main
        places.seats = layoutHosts.selectVisible(
            hosts.map(\.sid),
            capacity: gridSize,
            main: main,
            previous: previous.seats
        )
        places.lastInTurn = previous.lastInTurn
        if isRotating, settings.kind == .grid {
            layoutHosts.rotate(&places.seats, main: main, last: &places.lastInTurn)
        }
        if settings.kind == .grid, settings.priority == .pin { places.seats = layoutHosts.pinnedFirst(places.seats) }
        places.others = others(layoutHosts, places: places, previous: isSameKind ? previous : .init())
        if isRotating, settings.kind == .sidebar {
            layoutHosts.rotate(&places.others, main: main, last: &places.lastInTurn)
        }
        let shown = [main].compactMap(\.self) + places.others
        let before = [previous.main].compactMap(\.self) + previous.others
        places.cameIntoView = layoutHosts.cameIntoView(shown, before: before)
        return (
            LayoutView(settings: settings, width: width, height: height, tiles: tiles(shown, layoutHosts, places)),
            places
        )
    }

    private var gridSize: Int { min(max(settings.gridSize, 1), GridLayout.maximumTiles) }

    private var stripSize: Int {
        settings.stripSize.map { max($0, 1) }
            ?? SidebarLayout.stripCapacity(width: width, height: height, orientation: settings.orientation)
    }

    /// Returns the host in the large tile; nil without a large tile.
    private func main(_ layoutHosts: LayoutHosts, previous: String?, seats: [String]) -> String? {
        switch settings.kind {
        case .grid:
            guard settings.autoSwitchOnScreenShare else { return nil }
            return layoutHosts.presenter(previous: previous)?.sid
        case .sidebar:
            return layoutHosts.main(previous: previous, seats: seats)?.sid
        case .spotlight:
            let isGroup = settings.priority == .pin && !layoutHosts.pinned.isEmpty
            if isGroup, !layoutHosts.pinned.contains(where: \.isScreenPinned) { return nil }
            return layoutHosts.main(previous: previous, seats: seats)?.sid
        }
    }

    /// Returns the other visible hosts, by position.
    private func others(_ layoutHosts: LayoutHosts, places: TilePlacements, previous: TilePlacements) -> [String] {
        switch settings.kind {
        case .grid:
            return places.seats.filter { $0 != places.main }
        case .sidebar:
            let before = [previous.main].compactMap(\.self) + previous.others
            let capacity = min(gridSize, stripSize + 1)
            var candidates = places.seats
            // Hosts without a grid position rotate as well.
            if settings.rotation > 0 {
                candidates += layoutHosts.hosts.map(\.sid).filter { !places.seats.contains($0) }
            }
            let shown = layoutHosts.selectVisible(candidates, capacity: capacity, main: places.main, previous: before)
            let rest = candidates.filter { shown.contains($0) && $0 != places.main }
            return layoutHosts.arrange(previous: previous.others, next: rest)
        case .spotlight:
            guard places.main == nil else { return [] }
            let pinned = layoutHosts.pinned.map(\.sid).prefix(gridSize)
            return layoutHosts.arrange(previous: previous.others, next: Array(pinned))
        }
    }

    private func tiles(_ shown: [String], _ layoutHosts: LayoutHosts, _ places: TilePlacements) -> [Tile] {
        let rectangles = rectangles(shown.count, hasMain: places.main != nil)
        return zip(shown, rectangles).enumerated().compactMap { position, place in
            guard let host = layoutHosts.hosts.first(where: { $0.sid == place.0 }) else { return nil }
            let isLarge = settings.kind == .sidebar && position == 0
            let scaleMode = isLarge ? settings.largeScaleMode : settings.scaleMode
            return Tile(
                position: position,
                participantSID: host.sid,
                source: host.source,
                rectangle: place.1,
                // A screen is never cropped.
                scaleMode: host.hasScreen ? .fit : scaleMode,
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
            return SidebarLayout.rectangles(
                count: count,
                width: width,
                height: height,
                orientation: orientation,
                stripSize: stripSize
            )
        case .grid, .spotlight:
            return GridLayout.rectangles(count: count, width: width, height: height, orientation: orientation)
        }
    }
}
