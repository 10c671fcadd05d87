import GatewayModel
import Stage

extension LayoutResource {
    init(_ layout: LayoutView) {
        self.init(
            type: layout.settings.kind.rawValue,
            gridSize: layout.settings.gridSize,
            orientation: Orientation(width: layout.width, height: layout.height).rawValue,
            width: layout.width,
            height: layout.height,
            tiles: layout.tiles.map { TileResource($0) }
        )
    }
}

extension TileResource {
    init(_ tile: Tile) {
        self.init(
            position: tile.position,
            participantSID: tile.participantSID,
            source: tile.source.rawValue,
            x: tile.rectangle.x,
            y: tile.rectangle.y,
            width: tile.rectangle.width,
            height: tile.rectangle.height,
            scaleMode: tile.scaleMode.rawValue,
            label: tile.label,
            micOn: tile.isMicOn
        )
    }
}
