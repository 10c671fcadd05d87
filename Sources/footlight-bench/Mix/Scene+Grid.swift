import Mixer
import Stage

extension Scene {
    /// All hosts of these names side by side, and all heard.
    static func grid(of names: [String], on program: ProgramConfiguration) -> Scene {
        let rectangles = GridLayout.rectangles(count: names.count, width: program.width, height: program.height)
        let tiles = zip(names, rectangles).enumerated().map { position, tile in
            Tile(
                position: position,
                participantSID: tile.0,
                source: .camera,
                rectangle: tile.1,
                scaleMode: .fill,
                label: "",
                isMicOn: true
            )
        }
        return Scene(tiles: tiles, audible: Set(names))
    }
}
