import Codecs
import FootlightModel
import Mixer
import Stage

/// The state of a room, as its mixer reconstructs it from the room's events.
struct RoomMirror: Equatable {
    private(set) var program: ProgramResource?
    private(set) var hosts: [ParticipantResource] = []
    private(set) var tiles: [TileResource] = []
    private(set) var settings: LayoutSettingsResource?
    private(set) var audioSettings = RoomSoundResource()
    private(set) var isEnded = false
    /// Seconds for which the program continues after the room's end.
    private(set) var linger = 0
    /// Whether a host was visible or audible before.
    private(set) var wasOnAir = false
    /// The versions of the uploaded assets by name, from the room's events.
    private var assetVersions: [String: String] = [:]
    /// The ids of the assets that were removed from the room, the latest last.
    ///
    /// The list has at most as many as a mixer can hold; an older one is requested and not found.
    private(set) var removedAssets: [String] = []
    /// Whether the hosts are backstage, where the audience neither sees nor hears them.
    private(set) var isBackstage = false
    /// The hosts whose camera was lost with its connection.
    private(set) var lostCameras: Set<String> = []
    /// The sid of the present or last dominant speaker.
    private(set) var speaker: String?
    /// Whether a director watches the preview, as the gateway says in its answers to reports.
    var isPreviewWatched = false

    /// Applies an event.
    mutating func apply(_ event: EventResource) {
        defer { updateWasOnAir() }
        if let room = event.room { apply(room) }
        switch event.type.value {
        case .roomSnapshot:
            program = event.room?.program
            hosts = (event.participants ?? []).filter(\.isHost)
            tiles = event.layout?.tiles ?? event.tiles ?? []
            settings = event.layout?.settings
            lostCameras = []
            speaker = event.room?.dominantSpeakerSID
        case .roomEnded:
            isEnded = true
        case .layoutChanged:
            tiles = event.layout?.tiles ?? event.tiles ?? tiles
            settings = event.layout?.settings ?? settings
        case .assetStored:
            guard let asset = event.asset else { return }
            assetVersions[asset.name] = asset.version
            removedAssets.removeAll { $0 == AssetReference(name: asset.name).text }
        case .assetRemoved:
            guard let asset = event.asset else { return }
            assetVersions[asset.name] = nil
            let id = AssetReference(name: asset.name).text
            removedAssets = removedAssets.filter { $0 != id }.suffix(AssetFetchScheduler.maximumAssets - 1) + [id]
        case .dominantSpeakerChanged:
            speaker = event.sid?.wrappedValue ?? speaker
        case .pinChanged:
            // The event has the host's sid only.
            guard let index = hosts.firstIndex(where: { $0.sid == event.participantSID }) else { return }
            hosts[index].pin = event.pin?.wrappedValue
        case .participantLeft:
            hosts.removeAll { $0.sid == event.participant?.sid }
        default:
            guard let participant = event.participant else { return }
            apply(participant)
            updateLostCameras(event, of: participant)
        }
    }

    private mutating func apply(_ room: RoomResource) {
        isBackstage = room.backstage
        wasOnAir = room.wasOnAir
        audioSettings = room.sound
        linger = room.linger
    }

    /// Sets `wasOnAir` before the gateway reports it with the next event of the whole room.
    private mutating func updateWasOnAir() {
        guard !wasOnAir, !isBackstage else { return }
        wasOnAir = hosts.contains { $0.isMicOn || $0.isCameraOn || $0.isScreenSharing }
    }

    private mutating func apply(_ participant: ParticipantResource) {
        let index = hosts.firstIndex { $0.sid == participant.sid }
        switch (index, participant.isHost) {
        case (let index?, true): hosts[index] = participant
        case (let index?, false): hosts.remove(at: index)
        case (nil, true): hosts.append(participant)
        case (nil, false): break
        }
    }

    private mutating func updateLostCameras(_ event: EventResource, of participant: ParticipantResource) {
        guard participant.track(.camera) == nil else {
            lostCameras.remove(participant.sid)
            return
        }
        guard event.track?.name == .camera else { return }
        if event.reason == .ended {
            lostCameras.insert(participant.sid)
        } else {
            lostCameras.remove(participant.sid)
        }
    }

    /// The assets that the scenes may use, fetched ahead.
    var assets: Set<RequiredAsset> {
        let slates = [settings?.slates.startingSoon, settings?.slates.beRightBack, settings?.slates.ended]
        var images = hosts.map(\.avatar) + tiles.map(\.avatar) + slates.map { $0?.image }
        images += [settings?.background?.image, settings?.logo?.image]
        let music = slates.map { $0?.music }
        return Set(images.compactMap { requiredAsset($0, .image) } + music.compactMap { requiredAsset($0, .sound) })
    }

    private func requiredAsset(_ id: String?, _ kind: Asset.Kind) -> RequiredAsset? {
        guard let id, !removedAssets.contains(id) else { return nil }
        return RequiredAsset(id: id, version: AssetReference(id)?.name.flatMap { assetVersions[$0] }, kind: kind)
    }

    /// The feeds to read; that of a screen from its publication on, so that it can be found decodable.
    ///
    /// None after the room's end, because the gateway closes its hosts' feeds.
    var inputs: Set<MixerInput> {
        guard !isEnded else { return [] }
        var inputs = Set(hosts.map { MixerInput(participantSID: $0.sid, source: .camera) })
        for host in hosts where host.track(.screen) != nil {
            inputs.insert(MixerInput(participantSID: host.sid, source: .screen))
        }
        return inputs
    }

    /// Returns the jitter buffer's target of an input in milliseconds: the host's, else the room's, else the program's.
    func jitterTarget(of input: MixerInput) -> Int {
        let host = hosts.first { $0.sid == input.participantSID }
        return host?.sound.jitterTarget ?? audioSettings.jitterTarget ?? configuration.jitterTarget
    }

    /// The program's configuration, with defaults for missing values.
    var configuration: ProgramConfiguration {
        var configuration = ProgramConfiguration()
        guard let program else { return configuration }
        configuration.width = program.width ?? configuration.width
        configuration.height = program.height ?? configuration.height
        if let rate = program.fps { configuration.frameRate = FrameRate(rate.text) ?? configuration.frameRate }
        configuration.videoBitrate = program.videoBitrate ?? configuration.videoBitrate
        configuration.audioBitrate = program.audioBitrate ?? configuration.audioBitrate
        configuration.preset = program.preset?.value ?? configuration.preset
        configuration.keyInterval = program.keyInterval ?? configuration.keyInterval
        configuration.jitterTarget = program.jitterTarget ?? configuration.jitterTarget
        configuration.ladder = RenditionLadder(program)
        return configuration
    }

    /// Returns the report on all hosts for the given signals.
    ///
    /// A disabled track delivers no signal; its former subscription state stays.
    func report(_ signals: [HostSignal]) -> MixerReportBody {
        let signals = Dictionary(signals.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        func signal(_ host: ParticipantResource, _ source: PublishSource) -> HostSignal? {
            signals[MixerInput(participantSID: host.sid, source: source).id]
        }
        return MixerReportBody(
            participants: hosts.map { host in
                let camera = signal(host, .camera)
                let screen = signal(host, .screen)
                let subscribed = host.tracks.filter { track in
                    guard track.enabled else { return track.subscribed }
                    return switch track.name.value {
                    case .mic: camera?.hasAudio ?? false
                    case .camera: camera?.hasVideo ?? false
                    case .screen: screen?.hasVideo ?? false
                    case nil: false
                    }
                }
                let level = camera?.level ?? HostSignal.silence
                return MixerReportEntry(
                    sid: host.sid,
                    audioLevel: host.isEnabled(.mic) ? (level * 10).rounded() / 10 : nil,
                    subscribed: subscribed.map(\.name)
                )
            }
        )
    }
}

extension ParticipantResource {
    fileprivate var isHost: Bool { mode == .sendAndReceive }

    fileprivate func track(_ name: TrackName) -> TrackResource? {
        tracks.first { $0.name == name && $0.published }
    }

    /// Returns whether the track is published and enabled.
    func isEnabled(_ name: TrackName) -> Bool {
        track(name)?.enabled ?? false
    }
}

extension RoomMirror {
    /// The scene of the program.
    ///
    /// Audible hosts and the sources of tiles follow from the hosts' tracks, so that a disabled or unpublished track
    /// leaves the program with the event of the change. The tile of a camera that is interrupted, or not decodable yet,
    /// keeps the camera's input, which holds the last frame for a moment and then shows the host's card.
    var scene: Scene {
        var scene = Scene(
            colours: colours,
            transition: settings?.transitionMS ?? 300,
            decoration: decoration,
            audio: audioScene,
            concealed: concealed,
            standIn: settings?.slates.beRightBack.map { Slate(kind: .beRightBack, text: $0.text, image: $0.image) },
            speaker: speaker.map { MixerInput(participantSID: $0, source: .camera).id }
        )
        let audible = Set(self.hosts.filter { $0.isEnabled(.mic) }.map(\.sid))
        if isEnded || isBackstage {
            scene.slate = slate
            // Backstage the hosts hear each other, and the audience does not hear them.
            if !isEnded { scene.talkback = audible }
            if hasPreview { scene.previewTiles = hostTiles }
            if feeds.values.contains(.preview) { scene.audio.returns.insert(Scene.previewMix) }
            return scene
        }
        scene.tiles = hostTiles
        scene.audible = audible
        if scene.tiles.isEmpty { scene.slate = slate }
        return scene
    }

    /// The layout's tiles with what the hosts show in them.
    private var hostTiles: [Tile] {
        let hosts = Dictionary(hosts.map { ($0.sid, $0) }, uniquingKeysWith: { $1 })
        return tiles.compactMap { resource in
            hosts[resource.participantSID].flatMap { host in
                var tile = Tile(resource, source: source(of: resource, host: host))
                if !host.isEnabled(.mic) { tile?.isMicOn = false }
                return tile
            }
        }
    }

    /// Whether the scene is composed as it would be on air: backstage, for the hosts' return feeds and for a director.
    private var hasPreview: Bool {
        isBackstage && !isEnded && !hosts.isEmpty && (isPreviewWatched || hosts.contains(where: \.sound.returnFeed))
    }

    /// Returns the source of a tile; nil if its name is unknown.
    private func source(of tile: TileResource, host: ParticipantResource) -> Tile.Source? {
        guard let source = tile.source.value else { return nil }
        if source == .screen, host.isEnabled(.screen) { return .screen }
        return isCameraVisible(host) ? .camera : .placeholder
    }

    /// Returns whether the camera is to be visible, with or without decodable frames.
    private func isCameraVisible(_ host: ParticipantResource) -> Bool {
        host.isEnabled(.camera) || lostCameras.contains(host.sid)
    }

    /// The inputs that must not be visible, not even in a tile that is animated out.
    private var concealed: Set<String> {
        var inputs: Set<String> = []
        for host in hosts {
            if !isCameraVisible(host) { inputs.insert(MixerInput(participantSID: host.sid, source: .camera).id) }
            if !host.isEnabled(.screen) { inputs.insert(MixerInput(participantSID: host.sid, source: .screen).id) }
        }
        return inputs
    }

    /// The slate that replaces the tiles.
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
        var colours = settings?.theme == .light ? SceneColours.light : .dark
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
            logo: settings.logo.flatMap(Logo.init),
            lowerThird: settings.lowerThird.map { LowerThird(title: $0.title, subtitle: $0.subtitle) },
            ticker: settings.ticker.map { Ticker(text: $0.text, speed: $0.speed ?? Ticker(text: "").speed) }
        )
    }

    private var audioScene: AudioScene {
        var scene = AudioScene(isLevelling: audioSettings.levelling, duckDepth: audioSettings.duckDB)
        for host in hosts {
            if host.sound.gainDB != 0 { scene.gains[host.sid] = host.sound.gainDB }
            if host.sound.returnFeed { scene.returns.insert(host.sid) }
            let isPinned = host.pin != nil && (audioSettings.duck == .pinned || audioSettings.duck == .both)
            let isFirst = host.sound.priority && (audioSettings.duck == .priority || audioSettings.duck == .both)
            if isPinned || isFirst { scene.duckUnder.insert(host.sid) }
        }
        return scene
    }
}

extension Logo {
    /// Reads a logo of the layout; missing values have defaults, and nil is returned for an unknown corner.
    fileprivate init?(_ resource: LogoResource) {
        let corner: Corner
        switch resource.position {
        case .known(.topLeft): corner = .topLeft
        case .known(.topRight), nil: corner = .topRight
        case .known(.bottomLeft): corner = .bottomLeft
        case .known(.bottomRight): corner = .bottomRight
        case .unknown: return nil
        }
        self.init(asset: resource.image, corner: corner)
        opacity = resource.opacity ?? opacity
        height = resource.height ?? height
    }
}

extension YUVColour {
    /// Parses `#rrggbb`; nil for others.
    fileprivate init?(hexadecimal text: String) {
        guard text.utf8.count == 7, text.hasPrefix("#"), let value = UInt32(text.dropFirst(), radix: 16) else {
            return nil
        }
        self.init(red: UInt8(value >> 16 & 0xFF), green: UInt8(value >> 8 & 0xFF), blue: UInt8(value & 0xFF))
    }
}

extension Tile {
    /// Reads a tile with the given source; nil if its scale mode is unknown.
    fileprivate init?(_ resource: TileResource, source: Source?) {
        guard let source, let scaleMode = resource.scaleMode.value else { return nil }
        let publishSource: PublishSource = source == .screen ? .screen : .camera
        self.init(
            position: resource.position,
            participantSID: MixerInput(participantSID: resource.participantSID, source: publishSource).id,
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

/// A feed with an audio mix of its own.
enum MixFeed: Hashable {
    /// The return feed of the host with this identity.
    case hostReturn(String)
    /// The preview of the room, with the audio of all hosts.
    case preview
}

/// Feeds beside the program.
extension RoomMirror {
    /// The feeds with an audio mix of their own, by the mix's id: those of hosts have their sids.
    var feeds: [String: MixFeed] {
        guard !isEnded else { return [:] }
        var feeds = Dictionary(
            hosts.filter(\.sound.returnFeed).map { ($0.sid, MixFeed.hostReturn($0.identity)) },
            uniquingKeysWith: { $1 }
        )
        if hasPreview, isPreviewWatched { feeds[Scene.previewMix] = .preview }
        return feeds
    }
}

extension RenditionLadder {
    /// Reads the renditions of a program; nil without any.
    init?(_ program: ProgramResource) {
        let renditions = (program.renditions ?? []).compactMap { resource -> Rendition? in
            guard let width = resource.width, let height = resource.height, let bitrate = resource.videoBitrate else {
                return nil
            }
            return Rendition(
                name: resource.name,
                width: width,
                height: height,
                frameRate: resource.fps.flatMap { FrameRate($0.text) },
                videoBitrate: bitrate
            )
        }
        let hasAudioOnly = program.audioOnly ?? false
        guard hasAudioOnly || !renditions.isEmpty else { return nil }
        self.init(renditions: renditions, hasAudioOnly: hasAudioOnly)
    }
}
