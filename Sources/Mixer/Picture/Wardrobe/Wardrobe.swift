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
    struct Piece: Sendable, Hashable, Codable {
        var overlay: Overlay
        /// 0 without a file.
        var assetVersion: Int
    }

    private struct State {
        var wanted: Set<Piece> = []
        var waiting: [Piece] = []
        /// Drawn and not taken in yet, in the order in which they were drawn.
        var ready: [(piece: Piece, content: RenderedOverlay.Content?)] = []
        var drawn: [Piece: Drawn] = [:]
        /// Those drawn that are not wanted, the one unwanted longest first.
        var unwanted: [Piece] = []
        var serial: Int64 = 0
    }

    private struct Drawn {
        /// Rises with everything that is taken in.
        let serial: Int64
        /// nil for what cannot be drawn, or of which nothing is seen.
        let overlay: RenderedOverlay?
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
            // In one order in every run: which of them goes first says what has to be drawn again.
            let dropped = state.wanted.subtracting(pieces).compactMap { piece in
                state.drawn[piece].map { (piece: piece, serial: $0.serial) }
            }
            state.unwanted.append(contentsOf: dropped.sorted { $0.serial < $1.serial }.map(\.piece))
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
        state.withLock { $0.drawn[piece].map(\.overlay) }
    }

    /// Draws one piece that waits; returns whether there was one.
    func drawNext() -> Bool {
        guard let piece = state.withLock({ $0.waiting.popLast() }) else { return false }
        let content = draw(piece)
        state.withLock { $0.ready.append((piece, content)) }
        hasReady.store(true, ordering: .releasing)
        return true
    }

    private func draw(_ piece: Piece) -> RenderedOverlay.Content? {
        do {
            return try piece.overlay.render(with: OverlayImages(assets))
        } catch {
            // A file of no known kind, most of all: the program does without.
            return nil
        }
    }

    /// Takes in what is ready; the program's thread, between two steps.
    ///
    /// - Returns: What was taken in.
    func takeIn() -> [Piece] {
        guard hasReady.load(ordering: .acquiring) else { return [] }
        let ready = state.withLock { state in
            defer { state.ready.removeAll() }
            hasReady.store(false, ordering: .relaxed)
            return state.ready
        }
        // One whose file is another by now may show either, and is asked for anew.
        return takeIn(ready.filter { piece($0.piece.overlay) == $0.piece })
    }

    /// Draws `pieces` at once, whether they wait or not, and takes them in; the program's thread, between two steps.
    func takeIn(drawing pieces: [Piece]) {
        _ = takeIn(pieces.map { ($0, draw($0)) })
    }

    private func takeIn(_ ready: [(piece: Piece, content: RenderedOverlay.Content?)]) -> [Piece] {
        let taken = state.withLock { state -> [Piece] in
            var taken: [Piece] = []
            // One that was asked for again while it was drawn is drawn twice; the first will do.
            for (piece, content) in ready where state.drawn[piece] == nil {
                taken.append(piece)
                state.serial += 1
                let overlay = content.map { RenderedOverlay(serial: state.serial, content: $0) }
                state.drawn[piece] = Drawn(serial: state.serial, overlay: overlay)
                if !state.wanted.contains(piece) { state.unwanted.append(piece) }
            }
            return taken
        }
        if !taken.isEmpty { takenCount.add(1, ordering: .releasing) }
        return taken
    }
}
