import Synchronization

/// Holds what is drawn for scenes, and what waits to be drawn.
///
/// Drawing takes milliseconds, so whoever owns the program draws elsewhere: it calls `drawNext` on a thread that nobody
/// waits for. What is drawn hangs ready until the program's thread takes it in, between two of its steps, so that it can
/// be told afterwards which picture was the first to show it. What is not wanted any more is kept for a while, because a
/// microphone that went off comes on again.
final class Wardrobe: Sendable {
    /// Pieces kept beside those that are wanted.
    private static let spare = 48

    /// Something to be drawn: the same overlay with another file of the same name is another one.
    struct Piece: Sendable, Hashable {
        var overlay: Overlay
        /// 0 without a file.
        var assetVersion: Int
    }

    private struct State {
        var wanted: Set<Piece> = []
        var waiting: [Piece] = []
        /// Drawn and not taken in yet, in the order in which they were drawn.
        var ready: [(piece: Piece, content: RenderedOverlay.Content?)] = []
        /// nil for those that cannot be drawn, or of which nothing is seen.
        var drawn: [Piece: RenderedOverlay?] = [:]
        /// Those drawn that are not wanted, the one unwanted longest first.
        var unwanted: [Piece] = []
        var serial: Int64 = 0
    }

    let assets: AssetShelf
    private let state = Mutex(State())
    private let takenCount = Atomic(0)
    private let hasReady = Atomic(false)

    init(_ assets: AssetShelf) {
        self.assets = assets
    }

    /// Rises whenever something is taken in.
    var version: Int { takenCount.load(ordering: .acquiring) }

    /// The piece for `overlay` with the file that is there now.
    func piece(_ overlay: Overlay) -> Piece {
        Piece(overlay: overlay, assetVersion: overlay.asset.flatMap { assets.asset($0)?.version } ?? 0)
    }

    /// Says which pieces are wanted from now on; returns whether there is something to draw.
    func ask(for pieces: Set<Piece>) -> Bool {
        state.withLock { state in
            state.unwanted.append(contentsOf: state.wanted.filter { !pieces.contains($0) && state.drawn[$0] != nil })
            state.unwanted.removeAll(where: pieces.contains)
            state.wanted = pieces
            state.waiting = pieces.filter { piece in
                state.drawn[piece] == nil && !state.ready.contains { $0.piece == piece }
            }
            while state.unwanted.count > Self.spare {
                state.drawn.removeValue(forKey: state.unwanted.removeFirst())
            }
            return !state.waiting.isEmpty
        }
    }

    /// The piece as it is painted; nil when it is not there yet, and nil within when there is nothing to paint.
    func drawn(_ piece: Piece) -> RenderedOverlay?? {
        state.withLock { $0.drawn[piece] }
    }

    /// Draws one piece that waits; returns whether there was one.
    func drawNext() -> Bool {
        guard let piece = state.withLock({ $0.waiting.popLast() }) else { return false }
        let content: RenderedOverlay.Content?
        do {
            content = try piece.overlay.render(with: OverlayImages(assets))
        } catch {
            // A file of no known kind, most of all: the program does without.
            content = nil
        }
        state.withLock { $0.ready.append((piece, content)) }
        hasReady.store(true, ordering: .releasing)
        return true
    }

    /// Takes in what is ready; the program's thread, between two steps.
    ///
    /// - Parameter overlays: Only these, when they are ready; nil for all.
    /// - Returns: What was taken in.
    func takeIn(only overlays: [Overlay]? = nil) -> [Overlay] {
        guard hasReady.load(ordering: .acquiring) else { return [] }
        let taken = state.withLock { state -> [Overlay] in
            let ready = state.ready
            state.ready.removeAll()
            var taken: [Overlay] = []
            for (piece, content) in ready {
                if let overlays, !overlays.contains(piece.overlay) {
                    state.ready.append((piece, content))
                    continue
                }
                // One that was asked for again while it was drawn is drawn twice; the first will do.
                guard state.drawn[piece] == nil else { continue }
                taken.append(piece.overlay)
                state.serial += 1
                let drawn = content.map { RenderedOverlay(serial: state.serial, content: $0) }
                state.drawn.updateValue(drawn, forKey: piece)
                if !state.wanted.contains(piece) { state.unwanted.append(piece) }
            }
            if state.ready.isEmpty { hasReady.store(false, ordering: .relaxed) }
            return taken
        }
        if !taken.isEmpty { takenCount.add(1, ordering: .releasing) }
        return taken
    }
}
