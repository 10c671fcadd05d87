import Codecs
import Stage

extension Scene {
    /// The scene as it is shown on a step: the sound is that of the whole scene on each of them.
    func degraded(to step: Degradation) -> Scene {
        guard step >= .fewerTiles else { return self }
        var scene = self
        for index in tiles.indices where tiles[index].source == .camera && !isKept(tiles[index]) {
            scene.tiles[index].source = .placeholder
        }
        if step >= .slate, slate == nil {
            scene.slate = standIn ?? Slate(kind: .beRightBack)
            scene.slate?.music = nil
        }
        return scene
    }

    /// What may be left out of a host's pictures on a step, for this scene as it was before it was degraded.
    func economy(of host: String, on step: Degradation) -> VideoDecoder.Economy {
        if step >= .slate { return .onlyKeys }
        guard step >= .lighterDecoding else { return .none }
        let shown = tiles.filter { $0.participantSID == host && $0.source != .placeholder }
        // Who shares a screen has a tile for it, and it may be read; who speaks is looked at.
        if shown.contains(where: { $0.position == 0 || $0.source == .screen || isSpeakers($0) }) { return .none }
        if step >= .fewerTiles, !shown.contains(where: isKept) { return .onlyKeys }
        return .skipDisposable
    }

    private func isSpeakers(_ tile: Tile) -> Bool { tile.participantSID == speaker }

    /// Whether a tile keeps its pictures where few do: so many of the first, or one less of these and who speaks.
    private func isKept(_ tile: Tile) -> Bool {
        if tile.source == .screen || isSpeakers(tile) { return true }
        let isSpeakerBehind = tiles.contains { tile in
            isSpeakers(tile) && tile.source == .camera && tile.position >= Degradation.keptTiles
        }
        return tile.position < Degradation.keptTiles - (isSpeakerBehind ? 1 : 0)
    }
}
