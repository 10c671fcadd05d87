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
        var id: String { source == .screen ? participantSID + Self.screenSuffix : participantSID }

        /// The participant of the input with this name.
        static func participantSID(ofInput id: String) -> String {
            id.hasSuffix(screenSuffix) ? String(id.dropLast(screenSuffix.count)) : id
        }

        private static let screenSuffix = ".screen"
    }

    private(set) var program: ProgramResource?
    private(set) var hosts: [ParticipantResource] = []
    private(set) var tiles: [TileResource] = []
    private(set) var settings: LayoutSettingsResource?
    private(set) var sound = RoomSoundResource()
    private(set) var isEnded = false
    /// Seconds for which the program goes on after the room's end.
    private(set) var linger = 0
    /// Somebody was seen or heard before.
    private(set) var wasOnAir = false
    /// What the room's events told of what was uploaded: versions by name.
    private var assetVersions: [String: String] = [:]
    /// The ids of what was taken out of the room and not put there again, the latest last.
    ///
    /// No more than a mixer could still have; one that was forgotten is asked for, and not found.
    private(set) var removedAssets: [String] = []
    /// The hosts prepare; the audience sees and hears nothing of it.
    private(set) var isBackstage = false
    /// Hosts whose camera went with its connection, not by anybody's wish.
    private(set) var lostCameras: Set<String> = []
    /// The sid of who has the floor, or had it last.
    private(set) var speaker: String?

    /// Takes one event over.
    mutating func apply(_ event: EventResource) {
        defer { noteOnAir() }
        if let room = event.room { take(room) }
        switch StageEvent.Name(rawValue: event.type) {
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
            removedAssets = removedAssets.filter { $0 != id }.suffix(AssetErrands.most - 1) + [id]
        case .dominantSpeakerChanged:
            speaker = event.sid?.wrappedValue ?? speaker
        case .pinChanged:
            // It names the host, and does not bring it along.
            guard let index = hosts.firstIndex(where: { $0.sid == event.participantSID }) else { return }
            hosts[index].pin = event.pin?.wrappedValue
        case .participantLeft:
            hosts.removeAll { $0.sid == event.participant?.sid }
        default:
            guard let participant = event.participant else { return }
            take(participant)
            noteLoss(event, of: participant)
        }
    }

    private mutating func take(_ room: RoomResource) {
        isBackstage = room.backstage
        wasOnAir = room.wasOnAir
        sound = room.sound
        linger = room.linger
    }

    /// Notes by itself what the gateway tells only with the next event of the whole room.
    private mutating func noteOnAir() {
        guard !wasOnAir, !isBackstage else { return }
        wasOnAir = hosts.contains { $0.isMicOn || $0.isCameraOn || $0.isScreenSharing }
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

    /// What its scenes may name, so that it is here before it is seen or heard.
    var assets: Set<WantedAsset> {
        let slates = [settings?.slates.startingSoon, settings?.slates.beRightBack, settings?.slates.ended]
        var images = hosts.map(\.avatar) + tiles.map(\.avatar) + slates.map { $0?.image }
        images += [settings?.background?.image, settings?.logo?.image]
        let music = slates.map { $0?.music }
        return Set(images.compactMap { wanted($0, .image) } + music.compactMap { wanted($0, .sound) })
    }

    private func wanted(_ id: String?, _ kind: Asset.Kind) -> WantedAsset? {
        guard let id, !removedAssets.contains(id) else { return nil }
        return WantedAsset(id: id, version: AssetReference(id)?.name.flatMap { assetVersions[$0] }, kind: kind)
    }

    /// The feeds the mixer reads: of a screen as soon as it is published, for only then can it be found decodable.
    ///
    /// None once the room has ended: the gateway takes its hosts' feeds away.
    var inputs: Set<Input> {
        guard !isEnded else { return [] }
        var inputs = Set(hosts.map { Input(participantSID: $0.sid, source: .camera) })
        for host in hosts where host.track(.screen) != nil {
            inputs.insert(Input(participantSID: host.sid, source: .screen))
        }
        return inputs
    }

    /// Milliseconds for which an input's media is held back: what its host has, else the room, else the program.
    func jitterTarget(of input: Input) -> Int {
        let host = hosts.first { $0.sid == input.participantSID }
        return host?.sound.jitterTarget ?? sound.jitterTarget ?? configuration.jitterTarget
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
    func isWanted(_ name: TrackName) -> Bool {
        track(name)?.enabled ?? false
    }
}
