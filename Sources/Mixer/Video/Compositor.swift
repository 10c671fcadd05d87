import Codecs
import Synchronization

/// Paints the program's frames, touching only what has changed on the canvas.
///
/// Each canvas records what each of its tiles shows. A tile that shows the right frame already is left alone; one that
/// the newest canvas shows is copied from there; only a frame that is on no canvas is scaled. So each host frame is
/// scaled once, however many program frames show it; and overlays are blended again only over tiles that were painted.
/// During a transition everything is painted again for each frame. Owned by the program's thread.
struct Compositor {
    /// Counts of tiles that were scaled, copied from another canvas, left alone, or could not be drawn.
    struct Counters: Sendable, Equatable {
        /// Host frames that filled the whole program and were passed on without painting.
        var shown: Int64 = 0
        var drawn: Int64 = 0
        var copied: Int64 = 0
        var unchanged: Int64 = 0
        var failed: Int64 = 0
    }

    private struct Painted {
        var revision = -1
        var states: [TileState] = []
    }

    /// The state of a tile on a canvas.
    private struct TileState: Equatable {
        var serial: Int64 = -1
        var appearance = TileVisibility.Appearance.absent
        var tileOverlays = -1
    }

    private let ring: CanvasRing
    private var painted = Array(repeating: Painted(), count: CanvasRing.count)
    private var dirty: [Bool] = []
    private(set) var background = SceneBackground()
    /// The background transition in progress.
    private var change: BackgroundTransition?
    /// Incremented with every change that requires repainting whole canvases.
    private var revision = 0
    /// The canvas painted last.
    private(set) var newest = 0
    private(set) var counters = Counters()

    init(ring: CanvasRing) {
        self.ring = ring
    }

    /// Sets a new background, or reports that tiles or overlays have moved.
    ///
    /// - Parameter timeRange: The time in which the new background replaces the present one.
    mutating func rearrange(on background: SceneBackground, over timeRange: TimeRange = TimeRange()) {
        if !background.matches(self.background) {
            change = timeRange.length > 0 ? BackgroundTransition(previous: self.background, timeRange: timeRange) : nil
        }
        self.background = background
        revision += 1
    }

    /// Paints the frame of `sample`; nil when every canvas is still being read.
    mutating func compose(_ transition: SceneTransition, at sample: Int64) -> Int? {
        guard let target = ring.free(after: newest) else { return nil }
        if let change, !change.timeRange.isActive(at: sample) { self.change = nil }
        if transition.isMoving(at: sample) || change != nil {
            composeMoving(transition, at: sample, on: ring.canvases[target])
            painted[target].revision = -1
        } else if let frame = transition.singleFrame(on: ring.canvases[target].bounds),
            ring.canvases[target].show(frame)
        {
            // Nothing is painted: the encoder reads the frame from where the decoder has put it.
            painted[target].revision = -1
            counters.shown += 1
        } else {
            composeStill(transition, at: sample, on: target)
        }
        newest = target
        return target
    }

    private func painter(at sample: Int64) -> TilePainter {
        var colours = background.colours
        if let change {
            colours = change.previous.colours.mixed(with: colours, amount: change.timeRange.amount(at: sample))
        }
        return TilePainter(scratch: ring.scratches[0], colours: colours, tickerTop: background.tickerTop)
    }

    /// Paints a frame as large as the canvas; one that cannot be painted is left out.
    private func cover(_ canvas: Canvas, with frame: VideoFrame) {
        _ = try? canvas.draw(frame, in: canvas.bounds)
    }

    private func paint(
        _ ticker: LayerContent.Ticker,
        of animation: SceneTransition.OverlayAnimation,
        on canvas: Canvas,
        at sample: Int64
    ) {
        canvas.paint(ticker.strip, rendered: ticker.text, at: animation.positions(of: ticker.motion, at: sample))
    }

    // MARK: Without motion

    private mutating func composeStill(_ transition: SceneTransition, at sample: Int64, on target: Int) {
        let canvas = ring.canvases[target]
        let count = transition.tiles.count
        if painted[target].revision != revision, painted[newest].revision == revision {
            canvas.copy(canvas.bounds, from: ring.canvases[newest])
            painted[target] = painted[newest]
        }
        let isRepainted = painted[target].revision != revision
        if isRepainted {
            background.paint(on: canvas)
            for animation in transition.overlays {
                if case .frame(let slate) = animation.content { cover(canvas, with: slate) }
            }
            painted[target].revision = revision
            painted[target].states = Array(repeating: TileState(), count: count)
        }
        if dirty.count != count { dirty = Array(repeating: false, count: count) }
        for index in 0..<count {
            let tile = transition.tiles[index]
            dirty[index] = false
            guard !tile.placement.isCovered else { continue }
            let state = TileState(
                serial: tile.content.serial,
                appearance: tile.content.appearance,
                tileOverlays: tile.tileOverlays.number
            )
            let isUncovered = tile.placement.covers.contains { dirty[$0] }
            dirty[index] = isUncovered || painted[target].states[index] != state
            guard dirty[index] else {
                counters.unchanged += 1
                continue
            }
            painted[target].states[index] = state
            // On a repainted canvas, overlays are blended once, when all tiles are painted.
            if isRepainted || !copy(index, transition, state, to: target) {
                paint(tile, on: canvas, at: sample)
                if !isRepainted { layOver(transition.overlays, canvas, within: tile.placement.rectangle) }
            }
        }
        if isRepainted { layOver(transition.overlays, canvas, within: nil) }
        for animation in transition.overlays {
            if case .ticker(let ticker) = animation.content { paint(ticker, of: animation, on: canvas, at: sample) }
        }
    }

    private mutating func paint(_ tile: SceneTransition.TileAnimation, on canvas: Canvas, at sample: Int64) {
        let placement = tile.placement
        let painter = painter(at: sample)
        let rectangle = placement.rectangle
        if painter.paint(tile.content, tile.tileOverlays, fit: placement.fit, in: rectangle, on: canvas) {
            counters.drawn += tile.content.frame == nil ? 0 : 1
        } else {
            counters.failed += 1
        }
    }

    /// Copies a tile with its overlays from the newest canvas, if it is there and no other tile overlaps it.
    private mutating func copy(
        _ index: Int,
        _ transition: SceneTransition,
        _ state: TileState,
        to target: Int
    ) -> Bool {
        let placement = transition.tiles[index].placement
        guard target != newest, painted[newest].revision == revision, painted[newest].states[index] == state,
            placement.covers.isEmpty,
            !transition.tiles[index...].contains(where: { $0.placement.covers.contains(index) })
        else { return false }
        ring.canvases[target].copy(placement.rectangle, from: ring.canvases[newest])
        counters.copied += 1
        return true
    }

    private func layOver(
        _ overlays: [SceneTransition.OverlayAnimation],
        _ canvas: Canvas,
        within window: PixelRectangle?
    ) {
        for animation in overlays {
            guard case .overlay(let image, let x, let y, let opacity) = animation.content else { continue }
            canvas.blend(image, x: x, y: y, opacity: opacity, within: window)
        }
    }

    // MARK: During a transition

    private mutating func composeMoving(_ transition: SceneTransition, at sample: Int64, on canvas: Canvas) {
        let amount = transition.amount(at: sample)
        let scratch = ring.scratches[1]
        if let change {
            change.paint(background, at: sample, on: canvas, scratch: scratch)
        } else {
            background.paint(on: canvas)
        }
        let painter = painter(at: sample)
        let colourChange = change?.timeRange.amount(at: sample) ?? 1
        for tile in transition.tiles {
            let visible = tile.fade.opacity(at: amount)
            let rectangle = tile.rectangle(at: amount)
            if colourChange < 1, visible == 1, let previous = tile.formerOverlays,
                previous.number != tile.tileOverlays.number
            {
                paint(tile, in: previous, rectangle, visible: 1, by: painter, on: canvas)
                paint(tile, in: tile.tileOverlays, rectangle, visible: colourChange, by: painter, on: canvas)
            } else {
                paint(tile, in: tile.tileOverlays, rectangle, visible: visible, by: painter, on: canvas)
            }
        }
        for animation in transition.overlays {
            let visible = animation.fade.opacity(at: amount)
            switch animation.content {
            case .none:
                guard animation.layer.isSlate else { continue }
                canvas.fade(canvas.bounds, to: background.colours.background, amount: visible)
            case .frame(let slate):
                cover(scratch, with: slate)
                canvas.fade(canvas.bounds, from: scratch, amount: visible)
            case .overlay(let overlay, let x, let y, let opacity):
                canvas.blend(overlay, x: x, y: y, opacity: opacity * visible)
            case .ticker(let ticker):
                paint(ticker, of: animation, on: scratch, at: sample)
                let band = TickerStrip.band(width: canvas.width, height: canvas.height)
                canvas.fade(band, from: scratch, amount: visible)
            }
        }
    }

    private mutating func paint(
        _ tile: SceneTransition.TileAnimation,
        in tileOverlays: TileOverlays,
        _ rectangle: AnimatedRectangle,
        visible: Double,
        by painter: TilePainter,
        on canvas: Canvas
    ) {
        guard visible > 0 else { return }
        // Translucent tiles are painted on the scratch canvas first.
        let target = visible < 1 ? ring.scratches[1] : canvas
        let isPainted = painter.paint(tile.content, tileOverlays, fit: rectangle.fit, in: rectangle.pixels, on: target)
        if visible < 1 { canvas.fade(rectangle.pixels, from: target, amount: visible) }
        counters.drawn += isPainted && tile.content.frame != nil ? 1 : 0
        counters.failed += isPainted ? 0 : 1
    }
}

/// The background behind all tiles of a program.
struct SceneBackground {
    var colours = SceneColours.dark
    /// The image that covers the background colour.
    var image: VideoFrame?
    /// The row at which a ticker begins; tile overlays stay above it.
    var tickerTop = Int.max

    func matches(_ other: SceneBackground) -> Bool { colours == other.colours && image === other.image }

    /// Paints the background over a whole canvas.
    func paint(on canvas: Canvas) {
        canvas.fill(canvas.bounds, colours.background)
        // As large as the canvas; an image that cannot be painted is left out.
        if let image { _ = try? canvas.draw(image, in: canvas.bounds) }
    }
}

/// A cross-fade between two backgrounds.
struct BackgroundTransition {
    /// The background that is replaced.
    let previous: SceneBackground
    let timeRange: TimeRange

    /// Paints the blend of both backgrounds.
    ///
    /// - Parameter scratch: As large as `canvas`.
    func paint(_ background: SceneBackground, at sample: Int64, on canvas: Canvas, scratch: Canvas) {
        let amount = timeRange.amount(at: sample)
        previous.paint(on: canvas)
        if background.image == nil {
            canvas.fade(canvas.bounds, to: background.colours.background, amount: amount)
        } else {
            background.paint(on: scratch)
            canvas.fade(canvas.bounds, from: scratch, amount: amount)
        }
    }
}

/// The program's canvases: one is composed while another is encoded, and a third absorbs a slow encoder.
///
/// The program's thread takes a free canvas, paints it and retains it for each job that shows it; the encoder's thread
/// releases it. A retained canvas is only read. `@unchecked Sendable`: only the program's thread writes to canvases,
/// and only while they are not retained, which the lock orders.
final class CanvasRing: @unchecked Sendable {
    static let count = 3

    let canvases: [Canvas]
    /// Two scratch canvases of the program's thread; never retained.
    let scratches: [Canvas]
    private let loans: Mutex<[Int]>

    init(width: Int, height: Int) throws(CodecError) {
        var canvases: [Canvas] = []
        for _ in 0..<Self.count {
            canvases.append(try Canvas(width: width, height: height))
        }
        self.canvases = canvases
        scratches = [try Canvas(width: width, height: height), try Canvas(width: width, height: height)]
        loans = Mutex(Array(repeating: 0, count: Self.count))
    }

    /// Returns a canvas that is not being read; nil when all are retained.
    ///
    /// It is `last` itself if possible, which already holds unchanged tiles and is in the processor's cache.
    func free(after last: Int) -> Int? {
        loans.withLock { loans in
            for step in 0..<Self.count {
                let index = (last + step) % Self.count
                if loans[index] == 0 { return index }
            }
            return nil
        }
    }

    /// Retains canvas `index` once more.
    func retain(_ index: Int) {
        loans.withLock { $0[index] += 1 }
    }

    /// Releases canvas `index` once.
    func release(_ index: Int) {
        loans.withLock { $0[index] -= 1 }
    }
}
