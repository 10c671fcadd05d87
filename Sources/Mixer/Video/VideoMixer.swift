import Codecs

/// Composes the program's video: applies scenes, requests overlays, selects frames and paints canvases.
///
/// Owned by the program's thread; no method blocks.
struct VideoMixer {
    private let width: Int
    private let height: Int
    private let rate: Double
    private let overlayCache: OverlayCache
    private let requester: OverlayCache.Requester
    /// Called when overlays have to be rendered.
    private let requestRendering: () -> Void
    private var scene = Scene()
    private var plan: TilePlan
    /// The plan that takes effect with the next frame.
    private var nextPlan: TilePlan?
    /// Whether no frame shows the newest scene yet.
    private(set) var hasUnshownScene = false
    private var transition = SceneTransition()
    private var compositor: Compositor
    private var renderedVersions = (rendered: -1, assets: -1)
    private var overlayVersion = 0
    /// Whether there was a frame before: a new background then fades in.
    private var hasComposed = false

    /// - Parameters:
    ///   - rate: Frames per second.
    ///   - requester: What is composed.
    init(
        ring: CanvasRing,
        rate: Double,
        overlayCache: OverlayCache,
        requester: OverlayCache.Requester = .program,
        requestRendering: @escaping () -> Void
    ) {
        let canvas = ring.canvases[0]
        (width, height) = (canvas.width, canvas.height)
        self.rate = rate
        self.overlayCache = overlayCache
        self.requester = requester
        self.requestRendering = requestRendering
        plan = TilePlan(scene: scene, width: width, height: height)
        compositor = Compositor(ring: ring)
        compositor.rearrange(on: background)
    }

    /// The canvas of the newest frame.
    var newestCanvas: Int { compositor.newest }

    var counters: Compositor.Counters { compositor.counters }

    /// Applies `scene` from the next frame on.
    mutating func apply(_ scene: Scene) {
        self.scene = scene
        nextPlan = TilePlan(scene: scene, width: width, height: height)
        hasUnshownScene = true
    }

    /// Composes the frame that begins at `sample`.
    ///
    /// - Parameter previous: The sample at which the frame before it began.
    /// - Returns: Its canvas; nil when every canvas is still being read.
    mutating func compose(at sample: Int64, after previous: Int64, hosts: [String: ProgramHost]) -> Int? {
        if let nextPlan { begin(nextPlan, at: previous) }
        if !transition.isSettled, !transition.isMoving(at: sample) { transition.settle() }
        if renderedVersions != (overlayCache.version, overlayCache.assets.version) { updateOverlays(at: previous) }
        let time = ProgramTime.fractionalMilliseconds(ofSample: sample)
        let interval = ProgramTime.fractionalMilliseconds(ofSample: sample - previous)
        for index in transition.tiles.indices where !transition.tiles[index].isLeaving {
            let placement = transition.tiles[index].placement
            guard !placement.isCovered else { continue }
            let content = hosts[placement.host]?.show(at: sample, time: time, interval: interval, in: placement)
            transition.show(content ?? .absent, at: index)
        }
        let canvas = compositor.compose(transition, at: sample)
        if canvas != nil { (hasUnshownScene, hasComposed) = (false, true) }
        return canvas
    }

    private var background: SceneBackground {
        var background = SceneBackground(colours: plan.colours, tickerTop: plan.tickerTop)
        guard let backgroundKey else { return background }
        if let rendered = overlayCache.rendered(backgroundKey) {
            background.image = rendered?.frame
        } else if hasComposed {
            // As for overlays: the previous image stays until the new one is rendered.
            (background.colours, background.image) = (compositor.background.colours, compositor.background.image)
        }
        return background
    }

    /// The length of the scene's transition in samples.
    private var transitionLength: Int64 { Int64(min(max(scene.transition, 0), 2000)) * ProgramTime.sampleRate / 1000 }

    /// Returns the time range in which a new background fades in, from `sample` on.
    private func timeRange(from sample: Int64) -> TimeRange {
        TimeRange(begin: sample, length: hasComposed ? transitionLength : 0)
    }

    private mutating func begin(_ next: TilePlan, at sample: Int64) {
        nextPlan = nil
        let isArranged = next.isArranged(like: plan)
        let changesColours = next.colours != plan.colours
        plan = next
        if isArranged {
            // New labels with the same geometry need no transition.
            transition.relabel(plan, concealed: scene.concealed)
        } else {
            transition.move(
                to: plan,
                at: sample,
                over: transitionLength,
                concealed: scene.concealed
            )
            transition.fadeColours(changesColours)
            compositor.rearrange(on: background, over: timeRange(from: sample))
        }
        updateOverlays(at: sample)
    }

    // MARK: Overlays

    private mutating func updateOverlays(at sample: Int64) {
        renderedVersions = (overlayCache.version, overlayCache.assets.version)
        var keys: Set<OverlayCache.Key> = []
        let theme = OverlayTheme(plan.colours)
        for index in transition.tiles.indices where !transition.tiles[index].isLeaving {
            updateTileOverlays(index, theme: theme, &keys)
        }
        let logo = logoRectangle
        var isRearranged = false
        for index in transition.overlays.indices {
            let animation = transition.overlays[index]
            let key = overlayCache.key(animation.layer.overlay(on: plan))
            keys.insert(key)
            // The previous content stays until the new one is rendered.
            guard !animation.isLeaving, let rendered = overlayCache.rendered(key) else { continue }
            let content =
                rendered.map { LayerContent(animation.layer, $0, on: plan, beside: logo, rate: rate) }
                ?? LayerContent.none
            guard !content.matches(animation.content) else { continue }
            transition.setContent(content, at: index)
            isRearranged = true
        }
        if let backgroundKey { keys.insert(backgroundKey) }
        if overlayCache.request(keys, for: requester) { requestRendering() }
        let background = background
        if isRearranged || !background.matches(compositor.background) {
            compositor.rearrange(on: background, over: timeRange(from: sample))
        }
    }

    /// The part of the canvas that the scene's logo covers once it is rendered; nil without one.
    private var logoRectangle: PixelRectangle? {
        for layer in plan.layers {
            guard case .logo(let logo) = layer else { continue }
            guard let overlay = (overlayCache.rendered(overlayCache.key(layer.overlay(on: plan))) ?? nil)?.overlay
            else { return nil }
            let (x, y) = LogoOverlay.origin(of: overlay, in: logo.corner, on: plan)
            return PixelRectangle(x: x, y: y, width: overlay.width, height: overlay.height)
        }
        return nil
    }

    private mutating func updateTileOverlays(_ index: Int, theme: OverlayTheme, _ keys: inout Set<OverlayCache.Key>) {
        let tile = transition.tiles[index]
        var tileOverlays = tile.tileOverlays
        let (card, tag, badge) = tile.placement.overlays(
            theme: theme,
            minimumTextSize: NameTag.minimumTextSize(width: width, height: height)
        )
        // As for layers: the previous overlay stays until there is another.
        tileOverlays.card = find(card, &keys, else: tile.tileOverlays.card, \.frame)
        tileOverlays.tag = tag.flatMap { find($0, &keys, else: tile.tileOverlays.tag, \.overlay) }
        tileOverlays.badge = badge.flatMap { find($0, &keys, else: tile.tileOverlays.badge, \.overlay) }
        guard !tileOverlays.matches(tile.tileOverlays) else { return }
        overlayVersion += 1
        tileOverlays.number = overlayVersion
        transition.setTileOverlays(tileOverlays, at: index)
    }

    private func find<Value>(
        _ overlay: Overlay,
        _ keys: inout Set<OverlayCache.Key>,
        else old: Value?,
        _ keyPath: KeyPath<RenderedOverlay, Value?>
    ) -> Value? {
        let key = overlayCache.key(overlay)
        keys.insert(key)
        guard let rendered = overlayCache.rendered(key) else { return old }
        return rendered?[keyPath: keyPath]
    }

    private var backgroundKey: OverlayCache.Key? {
        plan.background.map { asset in
            let theme = OverlayTheme(plan.colours)
            return overlayCache.key(
                .background(BackgroundImage(asset: asset, width: width, height: height, theme: theme))
            )
        }
    }
}
