import Codecs

/// Animates tiles and overlays from one scene to the next.
///
/// Tiles that are in both scenes move, grow or shrink from their present rectangle; new tiles fade in; removed tiles
/// fade out in place with their last frame; a tile whose rectangle stays the same does not move. The program's sample
/// counter drives the animation, so the same scenes at the same samples look the same in every run. A change during a
/// transition begins at the present positions.
struct SceneTransition {
    /// A tile and its animation.
    struct TileAnimation {
        var placement: TilePlan.TilePlacement
        var content = TileContent.absent
        var tileOverlays = TileOverlays.none
        /// The overlays in the previous colours, while colours change.
        var formerOverlays: TileOverlays?
        var start: AnimatedRectangle
        var fade = Fade.none
        /// Whether the tile is in the previous scene only.
        var isLeaving = false

        var end: AnimatedRectangle { AnimatedRectangle(placement.rectangle, placement.fit) }

        func rectangle(at amount: Double) -> AnimatedRectangle { isLeaving ? start : start.moved(to: end, by: amount) }

        var isStill: Bool { !isLeaving && fade.isStill && start == end }
    }

    /// A layer over the tiles and its animation.
    struct OverlayAnimation {
        var layer: SceneLayer
        var content = LayerContent.none
        /// The sample at which the layer appeared, or got its present speed.
        var since: Int64 = 0
        /// The offset of a ticker in pixels at that sample.
        var startOffset = 0
        var fade = Fade.none
        var isLeaving = false

        /// Returns the left edges of a ticker's copies at `sample`.
        func positions(of motion: TickerMotion, at sample: Int64) -> [Int] {
            motion.positions(at: motion.frame(after: sample - since), startOffset: startOffset)
        }

        /// Changes a ticker's speed at `sample`, without moving its text.
        mutating func changeSpeed(to layer: SceneLayer, at sample: Int64) {
            if case .ticker(let ticker) = content {
                let frame = ticker.motion.frame(after: sample - since)
                startOffset = ticker.motion.offset(at: frame, startOffset: startOffset)
                since = sample
            }
            self.layer = layer
        }
    }

    /// The tiles in painting order: removed ones lie below.
    private(set) var tiles: [TileAnimation] = []
    /// The layers in painting order.
    private(set) var overlays: [OverlayAnimation] = []
    /// Whether the removed tiles and layers of the last transition are gone.
    private(set) var isSettled = true
    private var timeRange = TimeRange()

    /// Returns whether anything moves or fades at `sample`.
    func isMoving(at sample: Int64) -> Bool { timeRange.isActive(at: sample) }

    /// Returns the only frame on a canvas of these bounds while nothing moves; nil if there is more to paint.
    func singleFrame(on bounds: PixelRectangle) -> VideoFrame? {
        guard overlays.isEmpty, let top = tiles.last, top.placement.rectangle == bounds, top.tileOverlays.tag == nil,
            top.tileOverlays.badge == nil, top.content.appearance == TileVisibility.Appearance(dim: 0, card: 0)
        else { return nil }
        return top.content.frame
    }

    /// Returns the progress at `sample`: 0 to 1, eased at both ends.
    func amount(at sample: Int64) -> Double { timeRange.amount(at: sample) }

    /// Begins the transition to `plan`.
    ///
    /// - Parameters:
    ///   - sample: The beginning.
    ///   - length: The length in samples; 0 is at once.
    ///   - concealed: Hosts whose video must not be shown any more, not even while their tiles fade out.
    mutating func move(to plan: TilePlan, at sample: Int64, over length: Int64, concealed: Set<String> = []) {
        let amount = amount(at: sample)
        let slates = overlays.filter { $0.layer.isSlate && $0.fade.opacity(at: amount) == 1 }
        animateOverlays(to: plan.layers, at: sample, amount: amount)
        animateTiles(to: plan.placements, amount: amount, isCovered: !slates.isEmpty, concealed: concealed)
        let isStill = tiles.allSatisfy(\.isStill) && overlays.allSatisfy { $0.fade.isStill && !$0.isLeaving }
        timeRange = TimeRange(begin: sample, length: isStill ? 0 : length)
        isSettled = false
        if timeRange.length == 0 { settle() }
    }

    /// Applies new labels and concealment to tiles whose geometry stays the same.
    mutating func relabel(_ plan: TilePlan, concealed: Set<String>) {
        tiles.removeAll { $0.isLeaving && concealed.contains($0.placement.host) }
        let leaving = tiles.count - plan.placements.count
        for (index, placement) in plan.placements.enumerated() where index + leaving >= 0 {
            tiles[index + leaving].placement = placement
        }
    }

    /// Removes what has left the scene; to be called once nothing moves any more.
    mutating func settle() {
        isSettled = true
        tiles.removeAll(where: \.isLeaving)
        overlays.removeAll(where: \.isLeaving)
        for index in tiles.indices {
            tiles[index].start = tiles[index].end
            tiles[index].fade = .none
        }
        for index in overlays.indices { overlays[index].fade = .none }
    }

    /// Sets whether overlays fade from their previous colours.
    mutating func fadeColours(_ isChanging: Bool) {
        for index in tiles.indices { tiles[index].formerOverlays = isChanging ? tiles[index].tileOverlays : nil }
    }

    mutating func show(_ content: TileContent, at index: Int) { tiles[index].content = content }

    mutating func setTileOverlays(_ tileOverlays: TileOverlays, at index: Int) {
        tiles[index].tileOverlays = tileOverlays
    }

    mutating func setContent(_ content: LayerContent, at index: Int) { overlays[index].content = content }

    private mutating func animateTiles(
        to placements: [TilePlan.TilePlacement],
        amount: Double,
        isCovered: Bool,
        concealed: Set<String>
    ) {
        var old = tiles
        let hasSlate = overlays.contains { $0.layer.isSlate && !$0.isLeaving }
        var staying: [TileAnimation?] = []
        for placement in placements {
            guard let index = old.firstIndex(where: { $0.placement.host == placement.host }) else {
                staying.append(nil)
                continue
            }
            let existing = old.remove(at: index)
            var tile = TileAnimation(placement: placement, start: existing.rectangle(at: amount))
            tile.content = existing.content
            tile.tileOverlays = existing.tileOverlays
            tile.fade = Fade(start: existing.fade.opacity(at: amount), end: 1)
            staying.append(tile)
        }
        // Under a slate nothing is visible: a tile is there at once when the slate goes.
        let concealedTiles = old.filter { concealed.contains($0.placement.host) }
        let entered = zip(placements, staying).map { placement, tile -> TileAnimation in
            if let tile { return tile }
            let replacesConcealed = concealedTiles.contains {
                $0.rectangle(at: amount).pixels.contains(placement.rectangle)
            }
            let fade = isCovered || replacesConcealed ? Fade.none : Fade(start: 0, end: 1)
            let start = AnimatedRectangle(placement.rectangle, placement.fit)
            return TileAnimation(placement: placement, start: start, fade: fade)
        }
        var leaving = old.filter { !concealed.contains($0.placement.host) }
        for index in leaving.indices {
            let rectangle = leaving[index].rectangle(at: amount)
            let opacity = leaving[index].fade.opacity(at: amount)
            // A tile that another one fades in over has to stay opaque, or the background would show through both.
            let isReplaced = hasSlate || placements.contains { $0.rectangle.contains(rectangle.pixels) }
            leaving[index].start = rectangle
            leaving[index].fade = Fade(start: opacity, end: isReplaced ? opacity : 0)
            leaving[index].isLeaving = true
        }
        tiles = leaving + entered
    }

    private mutating func animateOverlays(to layers: [SceneLayer], at sample: Int64, amount: Double) {
        var next: [OverlayAnimation] = []
        for var animation in overlays where !layers.contains(where: { animation.layer.isSame(as: $0) }) {
            let opacity = animation.fade.opacity(at: amount)
            let isReplaced = animation.layer.isSlate && layers.contains(where: \.isSlate)
            animation.fade = Fade(start: opacity, end: isReplaced ? opacity : 0)
            // Of two lower thirds, the second fades in when the first has gone, or both would be read at once.
            if animation.layer.isLowerThird, layers.contains(where: \.isLowerThird) {
                animation.fade.phase = .firstHalf
            }
            animation.isLeaving = true
            next.append(animation)
        }
        let isAfterAnother = next.contains { $0.layer.isLowerThird && $0.fade.phase == .firstHalf && !$0.fade.isStill }
        for layer in layers {
            if var existing = overlays.first(where: { $0.layer.isSame(as: layer) }) {
                if existing.layer != layer { existing.changeSpeed(to: layer, at: sample) }
                existing.fade = Fade(start: existing.fade.opacity(at: amount), end: 1)
                existing.isLeaving = false
                next.append(existing)
            } else {
                var fade = Fade(start: 0, end: 1)
                if layer.isLowerThird, isAfterAnother { fade.phase = .secondHalf }
                next.append(OverlayAnimation(layer: layer, since: sample, fade: fade))
            }
        }
        // Stable: removed layers stay below new ones of their own kind.
        overlays = next.enumerated().sorted { ($0.element.layer.rank, $0.offset) < ($1.element.layer.rank, $1.offset) }
            .map(\.element)
    }
}

/// The time range of a transition, in samples of the program's counter.
struct TimeRange: Sendable, Hashable {
    var begin: Int64 = 0
    /// The length in samples; 0 is at once.
    var length: Int64 = 0

    func isActive(at sample: Int64) -> Bool { sample < begin + length }

    /// Returns the progress at `sample`: 0 to 1, eased at both ends.
    func amount(at sample: Int64) -> Double {
        guard isActive(at: sample) else { return 1 }
        let time = Double(max(sample - begin, 0)) / Double(length)
        return time * time * (3 - 2 * time)
    }
}

/// A rectangle with subpixel coordinates, and how a frame is fitted into it.
struct AnimatedRectangle: Sendable, Hashable {
    var x: Double
    var y: Double
    var width: Double
    var height: Double
    /// The progress from filling the rectangle, 0, to fitting into it, 1.
    var fitAmount: Double

    init(_ rectangle: PixelRectangle, _ fit: FrameFit) {
        x = Double(rectangle.x)
        y = Double(rectangle.y)
        width = Double(rectangle.width)
        height = Double(rectangle.height)
        fitAmount =
            switch fit {
            case .fill: 0
            case .fit: 1
            case .between(let amount): amount
            }
    }

    /// Returns the rectangle interpolated to `other` by `amount` (0 to 1).
    func moved(to other: AnimatedRectangle, by amount: Double) -> AnimatedRectangle {
        var result = self
        result.x += (other.x - x) * amount
        result.y += (other.y - y) * amount
        result.width += (other.width - width) * amount
        result.height += (other.height - height) * amount
        result.fitAmount += (other.fitAmount - fitAmount) * amount
        return result
    }

    /// How a frame is fitted into the rectangle.
    var fit: FrameFit {
        switch fitAmount {
        case ...0: .fill
        case 1...: .fit
        default: .between(fitAmount)
        }
    }

    /// The nearest rectangle with even edges; never empty.
    var pixels: PixelRectangle {
        let (left, top) = (Self.even(x), Self.even(y))
        return PixelRectangle(
            x: left,
            y: top,
            width: max(Self.even(x + width) - left, 2),
            height: max(Self.even(y + height) - top, 2)
        )
    }

    private static func even(_ edge: Double) -> Int { 2 * Int((edge / 2).rounded()) }
}

/// The opacity of an element during a transition.
struct Fade: Sendable, Hashable {
    /// The part of the transition in which the fade happens.
    enum Phase: Sendable, Hashable {
        case whole
        case firstHalf
        case secondHalf

        func progress(at amount: Double) -> Double {
            switch self {
            case .whole: amount
            case .firstHalf: min(amount * 2, 1)
            case .secondHalf: max(amount * 2 - 1, 0)
            }
        }
    }

    /// The opacity at the beginning, 0 to 1.
    var start: Double
    /// The opacity at the end, 0 to 1.
    var end: Double
    var phase = Phase.whole

    /// Opaque all the time.
    static let none = Fade(start: 1, end: 1)

    /// Returns the opacity at progress `amount` (0 to 1).
    func opacity(at amount: Double) -> Double { start + (end - start) * phase.progress(at: amount) }

    var isStill: Bool { start == end }
}
