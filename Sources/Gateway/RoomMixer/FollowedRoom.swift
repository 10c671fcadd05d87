import GatewayModel
import Mixer
import Stage

/// A room as its mixer knows it from the room's events.
struct FollowedRoom: Equatable {
    /// What a mixer input is made for: a host's camera and microphone, or a host's screen.
    struct Input: Hashable {
        let participantSID: String
        let source: PublishSource

        /// The name of the input within the mixer.
        var id: String { source == .screen ? participantSID + ".screen" : participantSID }
    }

    private(set) var program: ProgramResource?
    private(set) var hosts: [ParticipantResource] = []
    private(set) var tiles: [TileResource] = []
    private var theme: String?
    private(set) var isEnded = false
    /// The hosts prepare; the audience sees and hears nothing of it.
    private(set) var isBackstage = false
    /// Hosts whose camera went with its connection, not by anybody's wish.
    private var lostCameras: Set<String> = []

    /// Takes one event over.
    mutating func apply(_ event: EventResource) {
        switch StageEvent.Name(rawValue: event.type) {
        case .roomSnapshot:
            program = event.room?.program
            hosts = (event.participants ?? []).filter(\.isHost)
            tiles = event.layout?.tiles ?? event.tiles ?? []
            theme = event.layout?.theme
            isBackstage = event.room?.backstage ?? false
            lostCameras = []
        case .roomUpdated:
            isBackstage = event.room?.backstage ?? isBackstage
        case .roomEnded:
            isEnded = true
        case .layoutChanged:
            tiles = event.layout?.tiles ?? event.tiles ?? tiles
            theme = event.layout?.theme ?? theme
        case .participantLeft:
            hosts.removeAll { $0.sid == event.participant?.sid }
        default:
            guard let participant = event.participant else { return }
            take(participant)
            noteLoss(event, of: participant)
        }
    }

    private mutating func take(_ participant: ParticipantResource) {
        let index = hosts.firstIndex { $0.sid == participant.sid }
        switch (index, participant.isHost) {
        case (let index?, true): hosts[index] = participant
        case (let index?, false): hosts.remove(at: index)
        case (nil, true): hosts.append(participant)
        case (nil, false): break
        }
    }

    private mutating func noteLoss(_ event: EventResource, of participant: ParticipantResource) {
        guard participant.track(.camera) == nil else {
            lostCameras.remove(participant.sid)
            return
        }
        guard event.track?.name == TrackName.camera.rawValue else { return }
        if event.reason == UnpublishReason.ended.rawValue {
            lostCameras.insert(participant.sid)
        } else {
            lostCameras.remove(participant.sid)
        }
    }

    /// The feeds the mixer reads: of a screen as soon as it is published, for only then can it be found decodable.
    var inputs: Set<Input> {
        var inputs = Set(hosts.map { Input(participantSID: $0.sid, source: .camera) })
        for host in hosts where host.track(.screen) != nil {
            inputs.insert(Input(participantSID: host.sid, source: .screen))
        }
        return inputs
    }

    /// What the program shows and sounds like.
    ///
    /// Who is heard, and what a tile shows, follows from each host's tracks by themselves: so a track that is disabled or
    /// withdrawn is off the program with the very event that says so. A tile of a camera that is merely not there, or
    /// not decodable yet, follows the camera's input all the same, which holds the last picture for a moment and then
    /// empties by itself: a short loss is a still picture and no blink.
    var scene: Scene {
        let colours = theme == LayoutSettings.Theme.light.rawValue ? SceneColours.light : .dark
        guard !isBackstage else { return Scene(colours: colours) }
        let hosts = Dictionary(hosts.map { ($0.sid, $0) }, uniquingKeysWith: { $1 })
        return Scene(
            tiles: tiles.compactMap { resource in
                hosts[resource.participantSID].flatMap { Tile(resource, source: source(of: resource, host: $0)) }
            },
            audible: Set(hosts.values.filter { $0.isWanted(.mic) }.map(\.sid)),
            colours: colours
        )
    }

    /// What a tile shows; nil when its words are not known here.
    private func source(of tile: TileResource, host: ParticipantResource) -> Tile.Source? {
        guard let source = Tile.Source(rawValue: tile.source) else { return nil }
        if source == .screen, host.isWanted(.screen) { return .screen }
        return host.isWanted(.camera) || lostCameras.contains(host.sid) ? .camera : .placeholder
    }

    /// The program's settings, the default for each that the gateway did not name.
    var configuration: ProgramConfiguration {
        var configuration = ProgramConfiguration()
        guard let program else { return configuration }
        configuration.width = program.width ?? configuration.width
        configuration.height = program.height ?? configuration.height
        if let rate = program.fps { configuration.frameRate = FrameRate(rate.text) ?? configuration.frameRate }
        configuration.videoBitrate = program.videoBitrate ?? configuration.videoBitrate
        configuration.audioBitrate = program.audioBitrate ?? configuration.audioBitrate
        configuration.preset = program.preset ?? configuration.preset
        configuration.keyInterval = program.keyInterval ?? configuration.keyInterval
        configuration.jitterTarget = program.jitterTarget ?? configuration.jitterTarget
        configuration.ladder = RenditionLadder(program)
        return configuration
    }

    /// What the mixer says of every host, given what it gets of its inputs now.
    ///
    /// Of a disabled track nothing can arrive; for it the word before stands.
    func report(_ signals: [HostSignal]) -> MixerReportBody {
        let signals = Dictionary(signals.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        func signal(_ host: ParticipantResource, _ source: PublishSource) -> HostSignal? {
            signals[Input(participantSID: host.sid, source: source).id]
        }
        return MixerReportBody(
            participants: hosts.map { host in
                let camera = signal(host, .camera)
                let screen = signal(host, .screen)
                let subscribed = host.tracks.filter { track in
                    guard track.enabled else { return track.subscribed }
                    return switch TrackName(rawValue: track.name) {
                    case .mic: camera?.hasSound ?? false
                    case .camera: camera?.hasPictures ?? false
                    case .screen: screen?.hasPictures ?? false
                    case nil: false
                    }
                }
                let level = camera?.level ?? HostSignal.silence
                return MixerReportEntry(
                    sid: host.sid,
                    audioLevel: host.isWanted(.mic) ? (level * 10).rounded() / 10 : nil,
                    subscribed: subscribed.map(\.name)
                )
            }
        )
    }
}

extension ParticipantResource {
    fileprivate var isHost: Bool { mode == ParticipantMode.sendAndReceive.rawValue }

    fileprivate func track(_ name: TrackName) -> TrackResource? {
        tracks.first { $0.name == name.rawValue && $0.published }
    }

    /// The track is published, and not disabled.
    fileprivate func isWanted(_ name: TrackName) -> Bool {
        track(name)?.enabled ?? false
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
            isMicOn: resource.micOn
        )
    }
}
