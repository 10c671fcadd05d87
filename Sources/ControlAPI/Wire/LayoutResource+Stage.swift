import GatewayModel
import Stage

extension LayoutResource {
    init(_ layout: LayoutView) {
        self.init(
            settings: LayoutSettingsResource(layout),
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
            overlays: OverlaysResource(settings.overlays),
            transitionMS: settings.transition,
            background: settings.background.map { BackgroundResource($0) },
            logo: settings.logo.map { LogoResource($0) },
            lowerThird: settings.lowerThird.map { LowerThirdResource(title: $0.title, subtitle: $0.subtitle) },
            ticker: settings.ticker.map { TickerResource(text: $0.text, speed: $0.speed) },
            slates: SlatesResource(settings.slates)
        )
        if settings.rotation > 0 { rotateEvery = settings.rotation }
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
            micOn: tile.isMicOn,
            avatar: tile.avatar,
            inStrip: tile.isInStrip
        )
    }
}
