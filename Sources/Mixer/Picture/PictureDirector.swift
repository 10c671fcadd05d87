import Codecs

/// The picture half of a program: who is where, what is drawn for it, and the canvas it all comes out on.
///
/// Owned by the program's thread; nothing in it waits.
struct PictureDirector {
    private let width: Int
    private let height: Int
    private let rate: Double
    private let wardrobe: Wardrobe
    /// Called when there is something to draw.
    private let callDraftsman: () -> Void
    private var scene = Scene()
    private var plan: TilePlan
    /// Not in force yet.
    private var nextPlan: TilePlan?
    /// No picture shows the newest scene yet.
    private(set) var hasNews = false
    private var choreography = Choreography()
    private var compositor: Compositor
    private var seenVersions = (drawn: -1, assets: -1)
    private var dresses = 0
    /// There was a picture before: another ground takes the place of what was seen.
    private var hasComposed = false

    /// - Parameter rate: Program pictures per second.
    init(ring: CanvasRing, rate: Double, wardrobe: Wardrobe, callDraftsman: @escaping () -> Void) {
        let canvas = ring.canvases[0]
        (width, height) = (canvas.width, canvas.height)
        self.rate = rate
        self.wardrobe = wardrobe
        self.callDraftsman = callDraftsman
        plan = TilePlan(scene: scene, width: width, height: height)
        compositor = Compositor(ring: ring)
        compositor.rearrange(on: ground)
    }

    /// The canvas of the newest picture.
    var newestCanvas: Int { compositor.newest }

    var counters: Compositor.Counters { compositor.counters }

    /// Puts `scene` into force from the next picture on.
    mutating func apply(_ scene: Scene) {
        self.scene = scene
        nextPlan = TilePlan(scene: scene, width: width, height: height)
        hasNews = true
    }

    /// Composes the picture that begins at `sample`.
    ///
    /// - Parameter previous: The sample at which the picture before it began.
    /// - Returns: Its canvas; nil when every canvas is still being read.
    mutating func compose(at sample: Int64, after previous: Int64, hosts: [String: ProgramHost]) -> Int? {
        if let nextPlan { begin(nextPlan, at: previous) }
        if !choreography.isSettled, !choreography.isMoving(at: sample) { choreography.settle() }
        if seenVersions != (wardrobe.version, wardrobe.assets.version) { dressUp(at: previous) }
        let time = ProgramTime.fractionalMilliseconds(ofSample: sample)
        let interval = ProgramTime.fractionalMilliseconds(ofSample: sample - previous)
        for index in choreography.actors.indices where !choreography.actors[index].isLeaving {
            let place = choreography.actors[index].place
            guard !place.isCovered else { continue }
            let content = hosts[place.host]?.show(at: sample, time: time, interval: interval, in: place)
            choreography.show(content ?? .absent, at: index)
        }
        let canvas = compositor.compose(choreography, at: sample)
        if canvas != nil { (hasNews, hasComposed) = (false, true) }
        return canvas
    }

    private var ground: Ground {
        var ground = Ground(colours: plan.colours, floor: plan.floor)
        guard let background else { return ground }
        if let drawn = wardrobe.drawn(background) {
            ground.background = drawn?.picture
        } else if hasComposed {
            // As for what lies over it: until the new one is drawn, the one before says the most.
            (ground.colours, ground.background) = (compositor.ground.colours, compositor.ground.background)
        }
        return ground
    }

    /// The samples that the scene takes to come.
    private var transition: Int64 { Int64(min(max(scene.transition, 0), 2000)) * ProgramTime.sampleRate / 1000 }

    /// The time in which another ground comes, from `sample` on.
    private func passage(from sample: Int64) -> Passage {
        Passage(begin: sample, length: hasComposed ? transition : 0)
    }

    private mutating func begin(_ next: TilePlan, at sample: Int64) {
        nextPlan = nil
        let isArranged = next.isArranged(like: plan)
        let hasOtherColours = next.colours != plan.colours
        plan = next
        if isArranged {
            // New words and microphones in the same places move nothing.
            choreography.reword(plan, concealed: scene.concealed)
        } else {
            choreography.move(
                to: plan,
                at: sample,
                over: transition,
                concealed: scene.concealed
            )
            choreography.changeColours(hasOtherColours)
            compositor.rearrange(on: ground, over: passage(from: sample))
        }
        dressUp(at: sample)
    }

    // MARK: What is drawn

    private mutating func dressUp(at sample: Int64) {
        seenVersions = (wardrobe.version, wardrobe.assets.version)
        var pieces: Set<Wardrobe.Piece> = []
        let theme = OverlayTheme(plan.colours)
        for index in choreography.actors.indices where !choreography.actors[index].isLeaving {
            dress(index, theme: theme, &pieces)
        }
        var isRearranged = false
        for index in choreography.veils.indices {
            let veil = choreography.veils[index]
            let piece = wardrobe.piece(veil.layer.overlay(on: plan))
            pieces.insert(piece)
            // Until another one is drawn, the one before says the most.
            guard !veil.isLeaving, let drawn = wardrobe.drawn(piece) else { continue }
            let art = drawn.map { LayerArt(veil.layer, $0, on: plan, rate: rate) } ?? LayerArt.none
            guard !art.looksLike(veil.art) else { continue }
            choreography.paint(art, at: index)
            isRearranged = true
        }
        if let background { pieces.insert(background) }
        if wardrobe.ask(for: pieces) { callDraftsman() }
        let ground = ground
        if isRearranged || !ground.looksLike(compositor.ground) {
            compositor.rearrange(on: ground, over: passage(from: sample))
        }
    }

    private mutating func dress(_ index: Int, theme: OverlayTheme, _ pieces: inout Set<Wardrobe.Piece>) {
        let actor = choreography.actors[index]
        var dress = actor.dress
        let (card, tag, badge) = actor.place.overlays(theme: theme)
        // As for layers: what was there stays until there is another.
        dress.card = find(card, &pieces, else: actor.dress.card, \.picture)
        dress.tag = tag.flatMap { find($0, &pieces, else: actor.dress.tag, \.overlay) }
        dress.badge = badge.flatMap { find($0, &pieces, else: actor.dress.badge, \.overlay) }
        guard !dress.looksLike(actor.dress) else { return }
        dresses += 1
        dress.number = dresses
        choreography.dress(dress, at: index)
    }

    private func find<Art>(
        _ overlay: Overlay,
        _ pieces: inout Set<Wardrobe.Piece>,
        else old: Art?,
        _ art: KeyPath<RenderedOverlay, Art?>
    ) -> Art? {
        let piece = wardrobe.piece(overlay)
        pieces.insert(piece)
        guard let drawn = wardrobe.drawn(piece) else { return old }
        return drawn?[keyPath: art]
    }

    private var background: Wardrobe.Piece? {
        plan.background.map { asset in
            let theme = OverlayTheme(plan.colours)
            return wardrobe.piece(
                .background(BackgroundPicture(asset: asset, width: width, height: height, theme: theme))
            )
        }
    }
}
