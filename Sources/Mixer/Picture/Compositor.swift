import Codecs

/// Paints the program's picture, touching only what is not on the canvas yet.
///
/// Each canvas remembers what it shows in each tile. A tile that shows it already is left alone; one that the newest
/// canvas shows is copied from there; only a picture that is on no canvas is scaled. So each picture of a host is scaled
/// once, however many program pictures it stays. Owned by the program's thread.
struct Compositor {
    /// What a tile shows: a picture of a host, by its serial, or the colour of an empty tile.
    struct Content {
        var picture: Picture?
        /// Identifies the picture among all of the host's; 0 stands for the empty tile.
        var serial: Int64

        static let empty = Content(picture: nil, serial: 0)
    }

    /// How often a tile was scaled, copied from another canvas, or left alone; how often it could not be drawn.
    struct Counters: Sendable, Equatable {
        var drawn: Int64 = 0
        var copied: Int64 = 0
        var kept: Int64 = 0
        var failed: Int64 = 0
    }

    private struct Painted {
        var revision = -1
        var serials: [Int64] = []
    }

    private let ring: CanvasRing
    private var painted = Array(repeating: Painted(), count: CanvasRing.count)
    private var contents: [Content] = []
    private var dirty: [Bool] = []
    /// What is painted by.
    private(set) var plan = TilePlan(scene: Scene(), width: 0, height: 0, revision: 0)
    /// The canvas painted last.
    private(set) var newest = 0
    private(set) var counters = Counters()

    init(ring: CanvasRing) {
        self.ring = ring
    }

    mutating func apply(_ plan: TilePlan) {
        self.plan = plan
        contents = Array(repeating: .empty, count: plan.places.count)
        dirty = Array(repeating: false, count: plan.places.count)
    }

    /// The places of the plan in force.
    var places: [TilePlan.Place] { plan.places }

    /// Says what place `index` shows in the next picture.
    mutating func show(_ content: Content, at index: Int) {
        contents[index] = plan.places[index].isPlaceholder || content.picture == nil ? .empty : content
    }

    /// Paints the next picture and returns its canvas; nil when every canvas is still being read.
    mutating func compose() -> Int? {
        guard let target = ring.free(after: newest) else { return nil }
        let canvas = ring.canvases[target]
        let isRepainted = painted[target].revision != plan.revision
        if isRepainted {
            canvas.fill(canvas.bounds, plan.colours.background)
            painted[target] = Painted(
                revision: plan.revision,
                serials: Array(repeating: -1, count: plan.places.count)
            )
        }
        for index in plan.places.indices {
            let place = plan.places[index]
            let isUncovered = place.covers.contains { dirty[$0] }
            dirty[index] = isUncovered || painted[target].serials[index] != contents[index].serial
            guard dirty[index] else {
                counters.kept += 1
                continue
            }
            paint(place, contents[index], at: index, on: target)
        }
        newest = target
        return target
    }

    private mutating func paint(_ place: TilePlan.Place, _ content: Content, at index: Int, on target: Int) {
        let canvas = ring.canvases[target]
        painted[target].serials[index] = content.serial
        guard let picture = content.picture else {
            canvas.fill(place.rectangle, plan.colours.emptyTile)
            return
        }
        if isOnNewest(content.serial, at: index), target != newest, place.covers.isEmpty, !isCovered(index) {
            canvas.copy(place.rectangle, from: ring.canvases[newest])
            counters.copied += 1
            return
        }
        do {
            try canvas.draw(picture, in: place.rectangle, mode: place.fit)
            counters.drawn += 1
        } catch {
            // One host's odd picture must not cost the others theirs: its tile is empty until the next one.
            canvas.fill(place.rectangle, plan.colours.emptyTile)
            counters.failed += 1
        }
    }

    private func isOnNewest(_ serial: Int64, at index: Int) -> Bool {
        painted[newest].revision == plan.revision && painted[newest].serials[index] == serial
    }

    /// Whether a later tile lies over this one, so that its rectangle holds more than its own picture.
    private func isCovered(_ index: Int) -> Bool {
        plan.places[index...].contains { $0.covers.contains(index) }
    }
}
