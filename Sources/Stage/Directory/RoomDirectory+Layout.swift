import Synchronization

/// What is on air, and what would be.
extension RoomDirectory {
    /// Hosts that a preview describes at most.
    public static let mostPreviewedHosts = 50

    /// Arranges a room's tiles differently from now on.
    ///
    /// - Throws: 53106, or 3073 naming the field.
    @discardableResult
    public func setLayout(room: String, _ layout: LayoutSettings) throws(StageError) -> LayoutView {
        try setLayout(room: room) { $0 = layout }
    }

    /// Changes some of a room's layout settings; of two callers neither undoes what the other did.
    ///
    /// - Parameters:
    ///   - room: Unique name or sid.
    ///   - change: Called once with the settings there are; what it throws is thrown, and nothing changes.
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

    /// The tiles that some settings would give; nothing on air changes.
    ///
    /// - Parameters:
    ///   - room: Unique name or sid; its canvas is used.
    ///   - settings: Nil stands for the room's own.
    ///   - hosts: In join order, each sid once, as if the room began with them; nil stands for the room's own hosts in
    ///     the places they have.
    /// - Throws: 53106, or 3073 naming `grid_size` or `hosts`.
    public func previewLayout(
        room: String,
        settings: LayoutSettings? = nil,
        hosts: [LayoutHost]? = nil
    ) throws(StageError) -> LayoutView {
        try settings?.validate(path: "")
        if let hosts {
            guard hosts.count <= Self.mostPreviewedHosts else {
                throw .invalidParameter("hosts", "must be at most \(Self.mostPreviewedHosts)")
            }
            guard Set(hosts.map(\.sid)).count == hosts.count else {
                throw .invalidParameter("hosts", "must name each host once")
            }
        }
        let room = try state.withLock { (state) throws(StageError) in try state.room(room) }
        var roomSettings = room.settings
        roomSettings.layout = settings ?? roomSettings.layout
        let planner = LayoutPlanner(roomSettings)
        guard let hosts else { return planner.plan(room.layoutHosts, previous: room.roomLayout.places).layout }
        return planner.plan(hosts).layout
    }
}
