@testable import Stage

/// A set of hosts whose layout is planned after every change, as in a room.
struct LayoutFixture {
    var settings: LayoutSettings
    var width = 1280
    var height = 720
    /// Whether positions follow the order of `hosts`.
    private(set) var isOrdered = false
    private(set) var hosts: [LayoutHost] = []
    private(set) var layout: LayoutView
    private(set) var placements = TilePlacements()
    private var speeches = 0
    private var pins = 0

    init(_ settings: LayoutSettings, width: Int = 1280, height: Int = 720) {
        self.settings = settings
        self.width = width
        self.height = height
        layout = LayoutView(settings: settings, width: width, height: height, tiles: [])
    }

    /// The visible sids by position.
    var shown: [String] { layout.tiles.map(\.participantSID) }

    /// The visible sids, concatenated.
    var order: String { shown.joined() }

    mutating func join(_ sids: String..., hasCamera: Bool = true) {
        for sid in sids {
            hosts.append(LayoutHost(sid: sid, label: sid, hasCamera: hasCamera, isMicOn: true))
            plan()
        }
    }

    mutating func leave(_ sid: String) {
        hosts.removeAll { $0.sid == sid }
        plan()
    }

    /// Sets the dominant speaker; nil for none.
    mutating func setDominant(_ sid: String?) {
        speeches += 1
        for index in hosts.indices {
            hosts[index].isDominantSpeaker = hosts[index].sid == sid
            if hosts[index].sid == sid { hosts[index].speakingOrder = speeches }
        }
        plan()
    }

    mutating func pin(_ sid: String, _ type: PinType? = .screenAndCamera) {
        pins += 1
        let pinnedAt = Double(pins)
        change(sid) { host in
            host.pin = type
            host.pinnedAt = pinnedAt
        }
    }

    mutating func share(_ sid: String, _ isSharing: Bool = true) {
        change(sid) { $0.hasScreen = isSharing }
    }

    mutating func change(_ sid: String, _ body: (inout LayoutHost) -> Void) {
        for index in hosts.indices where hosts[index].sid == sid { body(&hosts[index]) }
        plan()
    }

    /// Sets the order of the hosts; all of them are named.
    mutating func order(_ sids: String) {
        isOrdered = true
        hosts = sids.compactMap { sid in hosts.first { $0.sid == String(sid) } }
        plan()
    }

    mutating func set(_ body: (inout LayoutSettings) -> Void) {
        body(&settings)
        plan()
    }

    private mutating func plan() {
        let planner = LayoutPlanner(settings: settings, width: width, height: height, isOrdered: isOrdered)
        (layout, placements) = planner.plan(hosts, previous: placements)
    }
}
