/// What is on air, and how it follows everything that happens in the room.
extension Room {
    /// What is on air now.
    var layout: LayoutView { roomLayout.view(settings) }

    /// The hosts as the layout needs to know them, in join order.
    var layoutHosts: [LayoutHost] {
        participants.filter(\.isHost).map { host in
            let pin = pins.pin(of: host.sid)
            return LayoutHost(
                sid: host.sid,
                label: host.displayName,
                hasCamera: host.isCameraOn,
                hasScreen: host.isScreenOn,
                isMicOn: host.isMicOn,
                avatar: host.avatar?.text,
                pin: pin?.type,
                pinnedAt: pin?.pinnedAt ?? 0,
                isDominantSpeaker: speakers.dominant == host.sid,
                speakingOrder: speakers.order.firstIndex(of: host.sid)
            )
        }
    }

    /// Arranges the tiles differently from now on.
    ///
    /// Events: `layout.changed` when that is a change.
    ///
    /// - Throws: 53106, or 3073 naming the field.
    mutating func setLayout(_ layout: LayoutSettings, at now: Double) throws(StageError) {
        guard status == .inProgress else { throw .roomNotFound }
        try layout.validate(path: "")
        settings.layout = layout
        announceLayout(at: now)
    }

    /// Brings the tiles in line with the hosts, without a word; for events that tell positions.
    mutating func arrangeLayout() {
        roomLayout.arrange(layoutHosts, settings)
    }

    /// Lets hosts without a tile take turns with those who have one, when it is time.
    ///
    /// Events: `layout.changed`.
    mutating func turnTiles(at now: Double) {
        guard settings.layout.rotation > 0, roomLayout.turn(layoutHosts, settings, at: now) else { return }
        announceLayout(at: now)
    }

    /// Brings the tiles in line with the hosts, and tells of the layout when it is not the one told last.
    ///
    /// The last thing in a command, so that it is told once at most.
    mutating func announceLayout(at now: Double) {
        arrangeLayout()
        // Every change of what is seen or heard of somebody comes by here.
        noteOnAir()
        guard let layout = roomLayout.takeChange(settings) else { return }
        emit(.layoutChanged(layout), at: now)
    }

    /// Brings the tiles in line with the hosts where everybody is told of the whole room anyway.
    mutating func announceLayoutQuietly() {
        arrangeLayout()
        _ = roomLayout.takeChange(settings)
    }
}
