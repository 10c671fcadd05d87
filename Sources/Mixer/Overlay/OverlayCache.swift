import Dispatch
import Synchronization

/// Caches rendered overlays, and queues those to be rendered.
///
/// Rendering takes milliseconds, so it happens on a thread of its own, which calls `renderNext`. Rendered overlays wait
/// until the program's thread applies them between two steps, so that a recording can tell which frame was the first to
/// show them. Overlays that are no longer requested stay cached for a while, because a microphone that is turned off is
/// often turned on again.
final class OverlayCache: Sendable {
    /// The maximum number of cached overlays that are not requested.
    private static let unusedLimit = 48

    /// Identifies an overlay to render; a replaced file of the same name makes another key.
    struct Key: Sendable, Hashable, Codable {
        var overlay: Overlay
        /// The version of the asset; 0 without a file.
        var assetVersion: Int
    }

    /// What shows the overlays.
    enum Requester: Sendable {
        case program
        case preview
    }

    private struct State {
        /// The overlays that are shown, by where.
        var requests: [Requester: Set<Key>] = [:]
        var pending: [Key] = []
        /// Rendered and not applied yet, in order of rendering.
        var ready: [(key: Key, content: RenderedOverlay.Content?)] = []
        var rendered: [Key: Entry] = [:]
        /// Cached but not requested, the longest unused first.
        var unused: [Key] = []
        var serial: Int64 = 0

        var requested: Set<Key> { requests.values.reduce(into: []) { $0.formUnion($1) } }
    }

    private struct Entry {
        /// Incremented with every overlay applied.
        let serial: Int64
        /// The overlay; nil if it cannot be drawn, or is empty.
        let overlay: RenderedOverlay?
    }

    let assets: AssetCache
    private let state = Mutex(State())
    private let appliedCount = Atomic(0)
    private let hasReady = Atomic(false)

    init(_ assets: AssetCache) {
        self.assets = assets
    }

    /// Incremented whenever overlays are applied.
    var version: Int { appliedCount.load(ordering: .acquiring) }

    /// Returns the key for `overlay` with the present version of its file.
    func key(_ overlay: Overlay) -> Key {
        Key(overlay: overlay, assetVersion: overlay.asset.flatMap { assets.asset($0)?.version } ?? 0)
    }

    /// Sets the overlays that `requester` shows; returns whether some have to be rendered.
    func request(_ requested: Set<Key>, for requester: Requester = .program) -> Bool {
        state.withLock { state in
            let former = state.requested
            state.requests[requester] = requested
            let keys = state.requested
            // In the same order in every run: the order of eviction determines what has to be rendered again.
            let dropped = former.subtracting(keys).compactMap { key in
                state.rendered[key].map { (key: key, serial: $0.serial) }
            }
            state.unused.append(contentsOf: dropped.sorted { $0.serial < $1.serial }.map(\.key))
            state.unused.removeAll(where: keys.contains)
            state.pending = keys.filter { key in
                state.rendered[key] == nil && !state.ready.contains { $0.key == key }
            }
            while state.unused.count > Self.unusedLimit {
                state.rendered.removeValue(forKey: state.unused.removeFirst())
            }
            return !state.pending.isEmpty
        }
    }

    /// Returns the rendered overlay; nil when it is not rendered yet, and an inner nil when there is nothing to paint.
    func rendered(_ key: Key) -> RenderedOverlay?? {
        state.withLock { $0.rendered[key].map(\.overlay) }
    }

    /// Renders one pending overlay; returns whether there was one.
    func renderNext() -> Bool {
        guard let key = state.withLock({ $0.pending.popLast() }) else { return false }
        let content = content(of: key)
        state.withLock { $0.ready.append((key, content)) }
        hasReady.store(true, ordering: .releasing)
        return true
    }

    private func content(of key: Key) -> RenderedOverlay.Content? {
        do {
            return try key.overlay.render(with: OverlayImages(assets))
        } catch {
            // Most likely a file of an unknown kind: the overlay is left out.
            return nil
        }
    }

    /// Applies the rendered overlays; called on the program's thread, between two steps.
    ///
    /// - Returns: The keys applied.
    func applyRendered() -> [Key] {
        guard hasReady.load(ordering: .acquiring) else { return [] }
        let ready = state.withLock { state in
            defer { state.ready.removeAll() }
            hasReady.store(false, ordering: .relaxed)
            return state.ready
        }
        // If its file was replaced meanwhile, an overlay may show either; it is requested again.
        return insert(ready.filter { key($0.key.overlay) == $0.key })
    }

    /// Renders `keys` at once, pending or not, and applies them; called on the program's thread, between two steps.
    func render(_ keys: [Key]) {
        _ = insert(keys.map { ($0, content(of: $0)) })
    }

    private func insert(_ ready: [(key: Key, content: RenderedOverlay.Content?)]) -> [Key] {
        let applied = state.withLock { state -> [Key] in
            var applied: [Key] = []
            // An overlay requested again while it was rendered is rendered twice; the first is used.
            for (key, content) in ready where state.rendered[key] == nil {
                applied.append(key)
                state.serial += 1
                let overlay = content.map { RenderedOverlay(serial: state.serial, content: $0) }
                state.rendered[key] = Entry(serial: state.serial, overlay: overlay)
                if !state.requested.contains(key) { state.unused.append(key) }
            }
            return applied
        }
        if !applied.isEmpty { appliedCount.add(1, ordering: .releasing) }
        return applied
    }
}

/// The loop of the thread that renders a program's overlays.
final class OverlayRenderThread: Sendable {
    let overlayCache: OverlayCache
    private let wake = DispatchSemaphore(value: 0)
    private let isClosed = Atomic(false)

    init(_ overlayCache: OverlayCache) {
        self.overlayCache = overlayCache
    }

    /// Wakes the thread to render; any thread.
    func call() {
        wake.signal()
    }

    /// Makes `run` return after the present overlay.
    func close() {
        isClosed.store(true, ordering: .releasing)
        wake.signal()
    }

    /// Renders pending overlays until closed.
    func run() {
        while !isClosed.load(ordering: .acquiring) {
            if !overlayCache.renderNext() { wake.wait() }
        }
    }
}
