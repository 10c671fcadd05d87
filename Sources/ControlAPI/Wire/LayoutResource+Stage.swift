import GatewayModel
import Stage

extension LayoutResource {
    init(_ layout: LayoutView) {
        let settings = layout.settings
        self.init(
            type: settings.kind.rawValue,
            priority: settings.priority.rawValue,
            gridSize: settings.gridSize,
            orientation: layout.orientation.rawValue,
            theme: settings.theme.rawValue,
            scaleMode: settings.scaleMode.rawValue,
            autoSwitchOnScreenShare: settings.autoSwitchOnScreenShare,
            overlays: OverlaysResource(settings.overlays),
            width: layout.width,
            height: layout.height,
            tiles: layout.tiles.map { TileResource($0) }
        )
    }
}

extension LayoutSettingsResource {
    init(_ layout: LayoutView) {
        let settings = layout.settings
        self.init(
            type: settings.kind.rawValue,
            priority: settings.priority.rawValue,
            gridSize: settings.gridSize,
            orientation: layout.orientation.rawValue,
            theme: settings.theme.rawValue,
            scaleMode: settings.scaleMode.rawValue,
            autoSwitchOnScreenShare: settings.autoSwitchOnScreenShare,
            overlays: OverlaysResource(settings.overlays)
        )
    }
}

extension OverlaysResource {
    init(_ overlays: LayoutSettings.Overlays) {
        self.init(name: overlays.name, mic: overlays.mic)
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
