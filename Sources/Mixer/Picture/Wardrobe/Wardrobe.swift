import Synchronization

/// Holds what is drawn for scenes, and what waits to be drawn.
///
/// Drawing takes milliseconds, so whoever owns the program draws elsewhere: it calls `drawNext` on a thread that nobody
/// waits for, while the program's thread asks and looks. What is not wanted any more is kept for a while, because a
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
        /// nil for those that cannot be drawn, or of which nothing is seen.
        var drawn: [Piece: RenderedOverlay?] = [:]
        /// Those drawn that are not wanted, the one unwanted longest first.
        var unwanted: [Piece] = []
        var serial: Int64 = 0
    }

    let assets: AssetShelf
    private let state = Mutex(State())
    private let drawnCount = Atomic(0)

    init(_ assets: AssetShelf) {
        self.assets = assets
    }

    /// Rises with each piece that is drawn.
    var version: Int { drawnCount.load(ordering: .acquiring) }

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
            state.waiting = pieces.filter { state.drawn[$0] == nil }
            while state.unwanted.count > Self.spare {
                state.drawn.removeValue(forKey: state.unwanted.removeFirst())
            }
            return !state.waiting.isEmpty
        }
    }

    /// The piece as it is painted; nil when it is not drawn yet, and nil within when there is nothing to paint.
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
        state.withLock { state in
            state.serial += 1
            let serial = state.serial
            state.drawn.updateValue(content.map { RenderedOverlay(serial: serial, content: $0) }, forKey: piece)
            if !state.wanted.contains(piece) { state.unwanted.append(piece) }
        }
        drawnCount.add(1, ordering: .releasing)
        return true
    }
}
