import Codecs
import Stage

extension Scene {
    /// The scene as it is shown on a step: the sound is that of the whole scene on each of them.
    func degraded(to step: Degradation) -> Scene {
        guard step >= .fewerTiles else { return self }
        var scene = self
        for index in tiles.indices
        where tiles[index].source == .camera && tiles[index].position >= Degradation.keptTiles {
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
        let place = shown.map(\.position).min()
        // Who shares a screen has a tile for it, and it may be read.
        if place == 0 || shown.contains(where: { $0.source == .screen }) { return .none }
        if step >= .fewerTiles, (place ?? Degradation.keptTiles) >= Degradation.keptTiles { return .onlyKeys }
        return .skipDisposable
    }
}
