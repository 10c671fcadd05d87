import Codecs

/// Paints the program's picture, touching only what is not on the canvas yet.
///
/// Each canvas remembers what it shows in each tile. A tile that shows it already is left alone; one that the newest
/// canvas shows is copied from there; only a picture that is on no canvas is scaled. So each picture of a host is scaled
/// once, however many program pictures it stays; and what lies over tiles is laid again only over those that were
/// painted. While things move, everything is painted anew for each picture. Owned by the program's thread.
struct Compositor {
    /// How often a tile was scaled, copied from another canvas, or left alone; how often it could not be drawn.
    struct Counters: Sendable, Equatable {
        /// Pictures that were the whole program, as they came.
        var shown: Int64 = 0
        var drawn: Int64 = 0
        var copied: Int64 = 0
        var kept: Int64 = 0
        var failed: Int64 = 0
    }

    private struct Painted {
        var revision = -1
        var looks: [Look] = []
    }

    /// What a tile shows on a canvas.
    private struct Look: Equatable {
        var serial: Int64 = -1
        var look = PicturePresence.Look.absent
        var dress = -1
    }

    private let ring: CanvasRing
    private var painted = Array(repeating: Painted(), count: CanvasRing.count)
    private var dirty: [Bool] = []
    private(set) var ground = Ground()
    /// Where the ground comes from, until it is wholly there.
    private var change: GroundChange?
    /// Rises with every change of what a canvas must be wholly painted anew for.
    private var revision = 0
    /// The canvas painted last.
    private(set) var newest = 0
    private(set) var counters = Counters()

    init(ring: CanvasRing) {
        self.ring = ring
    }

    /// Says that tiles have other places, or something else lies behind or over them.
    ///
    /// - Parameter passage: The time in which another ground takes the place of the present one.
    mutating func rearrange(on ground: Ground, over passage: Passage = Passage()) {
        if !ground.looksLike(self.ground) {
            change = passage.length > 0 ? GroundChange(former: self.ground, passage: passage) : nil
        }
        self.ground = ground
        revision += 1
    }

    /// Paints the picture of `sample`; nil when every canvas is still being read.
    mutating func compose(_ choreography: Choreography, at sample: Int64) -> Int? {
        guard let target = ring.free(after: newest) else { return nil }
        if let change, !change.passage.isUnderWay(at: sample) { self.change = nil }
        if choreography.isMoving(at: sample) || change != nil {
            composeMoving(choreography, at: sample, on: ring.canvases[target])
            painted[target].revision = -1
        } else if let picture = choreography.lonePicture(on: ring.canvases[target].bounds),
            ring.canvases[target].show(picture)
        {
            // Nothing is painted: the encoder takes it from where the decoder has put it.
            painted[target].revision = -1
            counters.shown += 1
        } else {
            composeStill(choreography, at: sample, on: target)
        }
        newest = target
        return target
    }

    private func painter(at sample: Int64) -> TilePainter {
        var colours = ground.colours
        if let change {
            colours = change.former.colours.mixed(with: colours, amount: change.passage.amount(at: sample))
        }
        return TilePainter(scratch: ring.scratches[0], colours: colours, floor: ground.floor)
    }

    /// Paints what is as large as the canvas; one that cannot be painted is left out.
    private func cover(_ canvas: Canvas, with picture: Picture) {
        _ = try? canvas.draw(picture, in: canvas.bounds)
    }

    private func paint(_ ticker: LayerArt.Ticker, of veil: Choreography.Veil, on canvas: Canvas, at sample: Int64) {
        canvas.paint(ticker.strip, rendered: ticker.text, at: veil.places(of: ticker.motion, at: sample))
    }

    // MARK: While nothing moves

    private mutating func composeStill(_ choreography: Choreography, at sample: Int64, on target: Int) {
        let canvas = ring.canvases[target]
        let count = choreography.actors.count
        if painted[target].revision != revision, painted[newest].revision == revision {
            canvas.copy(canvas.bounds, from: ring.canvases[newest])
            painted[target] = painted[newest]
        }
        let isRepainted = painted[target].revision != revision
        if isRepainted {
            ground.paint(on: canvas)
            for veil in choreography.veils {
                if case .picture(let slate) = veil.art { cover(canvas, with: slate) }
            }
            painted[target].revision = revision
            painted[target].looks = Array(repeating: Look(), count: count)
        }
        if dirty.count != count { dirty = Array(repeating: false, count: count) }
        for index in 0..<count {
            let actor = choreography.actors[index]
            dirty[index] = false
            guard !actor.place.isCovered else { continue }
            let look = Look(serial: actor.content.serial, look: actor.content.look, dress: actor.dress.number)
            let isUncovered = actor.place.covers.contains { dirty[$0] }
            dirty[index] = isUncovered || painted[target].looks[index] != look
            guard dirty[index] else {
                counters.kept += 1
                continue
            }
            painted[target].looks[index] = look
            // A canvas painted anew gets what lies over the tiles once, when all of them are there.
            if isRepainted || !copy(index, choreography, look, to: target) {
                paint(actor, on: canvas, at: sample)
                if !isRepainted { layOver(choreography.veils, canvas, within: actor.place.rectangle) }
            }
        }
        if isRepainted { layOver(choreography.veils, canvas, within: nil) }
        for veil in choreography.veils {
            if case .ticker(let ticker) = veil.art { paint(ticker, of: veil, on: canvas, at: sample) }
        }
    }

    private mutating func paint(_ actor: Choreography.Actor, on canvas: Canvas, at sample: Int64) {
        let place = actor.place
        if painter(at: sample).paint(actor.content, actor.dress, fit: place.fit, in: place.rectangle, on: canvas) {
            counters.drawn += actor.content.picture == nil ? 0 : 1
        } else {
            counters.failed += 1
        }
    }

    /// Copies a tile, with all that lies over it, from the newest canvas, if it is there and nothing else is in it.
    private mutating func copy(
        _ index: Int,
        _ choreography: Choreography,
        _ look: Look,
        to target: Int
    ) -> Bool {
        let place = choreography.actors[index].place
        guard target != newest, painted[newest].revision == revision, painted[newest].looks[index] == look,
            place.covers.isEmpty, !choreography.actors[index...].contains(where: { $0.place.covers.contains(index) })
        else { return false }
        ring.canvases[target].copy(place.rectangle, from: ring.canvases[newest])
        counters.copied += 1
        return true
    }

    private func layOver(_ veils: [Choreography.Veil], _ canvas: Canvas, within window: PixelRectangle?) {
        for veil in veils {
            guard case .overlay(let overlay, let x, let y, let opacity) = veil.art else { continue }
            canvas.blend(overlay, x: x, y: y, opacity: opacity, within: window)
        }
    }

    // MARK: While things move

    private mutating func composeMoving(_ choreography: Choreography, at sample: Int64, on canvas: Canvas) {
        let amount = choreography.amount(at: sample)
        let scratch = ring.scratches[1]
        if let change {
            change.paint(ground, at: sample, on: canvas, scratch: scratch)
        } else {
            ground.paint(on: canvas)
        }
        let painter = painter(at: sample)
        let colourChange = change?.passage.amount(at: sample) ?? 1
        for actor in choreography.actors {
            let visible = actor.fade.opacity(at: amount)
            let frame = actor.frame(at: amount)
            if colourChange < 1, visible == 1, let former = actor.formerDress, former.number != actor.dress.number {
                paint(actor, in: former, frame, visible: 1, by: painter, on: canvas)
                paint(actor, in: actor.dress, frame, visible: colourChange, by: painter, on: canvas)
            } else {
                paint(actor, in: actor.dress, frame, visible: visible, by: painter, on: canvas)
            }
        }
        for veil in choreography.veils {
            let visible = veil.fade.opacity(at: amount)
            switch veil.art {
            case .none:
                guard veil.layer.isSlate else { continue }
                canvas.fade(canvas.bounds, to: ground.colours.background, amount: visible)
            case .picture(let slate):
                cover(scratch, with: slate)
                canvas.fade(canvas.bounds, from: scratch, amount: visible)
            case .overlay(let overlay, let x, let y, let opacity):
                canvas.blend(overlay, x: x, y: y, opacity: opacity * visible)
            case .ticker(let ticker):
                paint(ticker, of: veil, on: scratch, at: sample)
                let band = TickerStrip.band(width: canvas.width, height: canvas.height)
                canvas.fade(band, from: scratch, amount: visible)
            }
        }
    }

    private mutating func paint(
        _ actor: Choreography.Actor,
        in dress: TileDress,
        _ frame: MotionFrame,
        visible: Double,
        by painter: TilePainter,
        on canvas: Canvas
    ) {
        guard visible > 0 else { return }
        // What is half seen is painted beside the canvas first.
        let target = visible < 1 ? ring.scratches[1] : canvas
        let isPainted = painter.paint(actor.content, dress, fit: frame.fit, in: frame.pixels, on: target)
        if visible < 1 { canvas.fade(frame.pixels, from: target, amount: visible) }
        counters.drawn += isPainted && actor.content.picture != nil ? 1 : 0
        counters.failed += isPainted ? 0 : 1
    }
}
