import Codecs
import GatewayModel
import Mixer
import Stage

extension FollowedRoom {
    /// What the program shows and sounds like.
    ///
    /// Who is heard, and what a tile shows, follows from each host's tracks by themselves: so a track that is disabled or
    /// withdrawn is off the program with the very event that says so. A tile of a camera that is merely not there, or
    /// not decodable yet, follows the camera's input all the same, which holds the last picture for a moment and then
    /// shows the host's card: a short loss is a still picture and no blink.
    var scene: Scene {
        var scene = Scene(
            colours: colours,
            transition: settings?.transitionMS ?? 300,
            decoration: decoration,
            sound: soundScene,
            concealed: concealed,
            standIn: settings?.slates.beRightBack.map { Slate(kind: .beRightBack, text: $0.text, image: $0.image) },
            speaker: speaker.map { Input(participantSID: $0, source: .camera).id }
        )
        let heard = Set(self.hosts.filter { $0.isWanted(.mic) }.map(\.sid))
        if isEnded || isBackstage {
            scene.slate = slate
            // Whoever prepares a show talks to the others, whom the audience does not hear yet.
            if !isEnded { scene.talkback = heard }
            return scene
        }
        let hosts = Dictionary(hosts.map { ($0.sid, $0) }, uniquingKeysWith: { $1 })
        scene.tiles = tiles.compactMap { resource in
            hosts[resource.participantSID].flatMap { host in
                var tile = Tile(resource, source: source(of: resource, host: host))
                if !host.isWanted(.mic) { tile?.isMicOn = false }
                return tile
            }
        }
        scene.audible = heard
        if scene.tiles.isEmpty { scene.slate = slate }
        return scene
    }

    /// What a tile shows; nil when its words are not known here.
    private func source(of tile: TileResource, host: ParticipantResource) -> Tile.Source? {
        guard let source = Tile.Source(rawValue: tile.source) else { return nil }
        if source == .screen, host.isWanted(.screen) { return .screen }
        return isSeen(host) ? .camera : .placeholder
    }

    /// The camera is meant to be seen, whether or not there are pictures of it.
    private func isSeen(_ host: ParticipantResource) -> Bool {
        host.isWanted(.camera) || lostCameras.contains(host.sid)
    }

    /// The inputs of which nothing may be seen any more, not even in a tile that is on its way out.
    private var concealed: Set<String> {
        var inputs: Set<String> = []
        for host in hosts {
            if !isSeen(host) { inputs.insert(Input(participantSID: host.sid, source: .camera).id) }
            if !host.isWanted(.screen) { inputs.insert(Input(participantSID: host.sid, source: .screen).id) }
        }
        return inputs
    }

    /// What is shown in place of tiles at this time of the show.
    private var slate: Slate {
        let slates = settings?.slates
        let (kind, resource): (Slate.Kind, SlateResource?) =
            if isEnded {
                (.ended, slates?.ended)
            } else if wasOnAir {
                (.beRightBack, slates?.beRightBack)
            } else {
                (.startingSoon, slates?.startingSoon)
            }
        return Slate(kind: kind, text: resource?.text, image: resource?.image, music: resource?.music)
    }

    private var colours: SceneColours {
        var colours = settings?.theme == LayoutSettings.Theme.light.rawValue ? SceneColours.light : .dark
        if let colour = settings?.background?.colour.flatMap(YUVColour.init(hexadecimal:)) {
            colours.background = colour
        }
        return colours
    }

    private var decoration: Decoration {
        guard let settings else { return Decoration() }
        return Decoration(
            showsNames: settings.overlays.name,
            showsMicrophones: settings.overlays.mic,
            background: settings.background?.image,
            logo: settings.logo.map(Logo.init),
            lowerThird: settings.lowerThird.map { LowerThird(title: $0.title, subtitle: $0.subtitle) },
            ticker: settings.ticker.map { Ticker(text: $0.text, speed: $0.speed ?? Ticker(text: "").speed) }
        )
    }

    private var soundScene: SoundScene {
        var scene = SoundScene(isLevelling: sound.levelling, duckDepth: sound.duckDB)
        for host in hosts {
            if host.sound.gainDB != 0 { scene.gains[host.sid] = host.sound.gainDB }
            if host.sound.returnFeed { scene.returns.insert(host.sid) }
            let isPinned = host.pin != nil && (sound.duck == "pinned" || sound.duck == "both")
            let isFirst = host.sound.priority && (sound.duck == "priority" || sound.duck == "both")
            if isPinned || isFirst { scene.duckUnder.insert(host.sid) }
        }
        return scene
    }
}

extension Logo {
    /// Reads a logo of the layout; what it leaves out is as usual.
    fileprivate init(_ resource: LogoResource) {
        let corner: Corner =
            switch resource.position {
            case "top_left": .topLeft
            case "bottom_left": .bottomLeft
            case "bottom_right": .bottomRight
            default: .topRight
            }
        self.init(asset: resource.image, corner: corner)
        opacity = resource.opacity ?? opacity
        height = resource.height ?? height
    }
}

extension YUVColour {
    /// Reads `#rrggbb`; nil for anything else.
    fileprivate init?(hexadecimal text: String) {
        guard text.utf8.count == 7, text.hasPrefix("#"), let value = UInt32(text.dropFirst(), radix: 16) else {
            return nil
        }
        self.init(red: UInt8(value >> 16 & 0xFF), green: UInt8(value >> 8 & 0xFF), blue: UInt8(value & 0xFF))
    }
}

extension Tile {
    /// Reads a tile that shows `source`; nil for one whose words this version does not know.
    fileprivate init?(_ resource: TileResource, source: Source?) {
        guard let source, let scaleMode = ScaleMode(rawValue: resource.scaleMode) else { return nil }
        let publishSource: PublishSource = source == .screen ? .screen : .camera
        self.init(
            position: resource.position,
            participantSID: FollowedRoom.Input(participantSID: resource.participantSID, source: publishSource).id,
            source: source,
            rectangle: TileRectangle(x: resource.x, y: resource.y, width: resource.width, height: resource.height),
            scaleMode: scaleMode,
            label: resource.label,
            isMicOn: resource.micOn,
            avatar: resource.avatar,
            isInStrip: resource.inStrip
        )
    }
}
