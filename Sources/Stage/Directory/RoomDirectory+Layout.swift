import Synchronization

/// The current layout, and previews.
extension RoomDirectory {
    /// The maximum number of hosts in a preview.
    public static let maximumPreviewedHosts = 50

    /// Sets a room's layout.
    ///
    /// - Throws: 53106, or 3073 naming the field.
    @discardableResult
    public func setLayout(room: String, _ layout: LayoutSettings) throws(StageError) -> LayoutView {
        try setLayout(room: room) { $0 = layout }
    }

    /// Changes some of a room's layout settings atomically.
    ///
    /// - Parameters:
    ///   - room: Unique name or sid.
    ///   - change: Called once with the current settings; its error is rethrown, and nothing changes.
    /// - Throws: 53106, or 3073 naming the field.
    @discardableResult
    public func setLayout(
        room: String,
        _ change: (inout LayoutSettings) throws(StageError) -> Void
    ) throws(StageError) -> LayoutView {
        try self.change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                var layout = room.settings.layout
                try change(&layout)
                try room.setLayout(layout, at: now)
                return room.layout
            }
        }
    }

    /// Returns the tiles of other settings or hosts; the layout on air does not change.
    ///
    /// - Parameters:
    ///   - room: Unique name or sid; its canvas is used.
    ///   - settings: Nil for the room's own.
    ///   - hosts: In join order, each sid once, without previous placements; nil for the room's own hosts in their
    ///     placements.
    /// - Throws: 53106, or 3073 naming `grid_size` or `hosts`.
    public func previewLayout(
        room: String,
        settings: LayoutSettings? = nil,
        hosts: [LayoutHost]? = nil
    ) throws(StageError) -> LayoutView {
        try settings?.validate(path: "")
        if let hosts {
            guard hosts.count <= Self.maximumPreviewedHosts else {
                throw .invalidParameter("hosts", "must be at most \(Self.maximumPreviewedHosts)")
            }
            guard Set(hosts.map(\.sid)).count == hosts.count else {
                throw .invalidParameter("hosts", "must name each host once")
            }
        }
        let room = try state.withLock { (state) throws(StageError) in try state.room(room) }
        var roomSettings = room.settings
        roomSettings.layout = settings ?? roomSettings.layout
        let planner = LayoutPlanner(roomSettings)
        guard let hosts else { return planner.plan(room.layoutHosts, previous: room.roomLayout.placements).layout }
        return planner.plan(hosts).layout
    }
}
