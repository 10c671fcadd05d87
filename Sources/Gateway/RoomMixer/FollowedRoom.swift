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
    private(set) var isEnded = false

    /// Takes one event over.
    mutating func apply(_ event: EventResource) {
        switch StageEvent.Name(rawValue: event.type) {
        case .roomSnapshot:
            program = event.room?.program
            hosts = (event.participants ?? []).filter(\.isHost)
            tiles = event.layout?.tiles ?? event.tiles ?? []
        case .roomEnded:
            isEnded = true
        case .layoutChanged:
            tiles = event.layout?.tiles ?? event.tiles ?? tiles
        case .participantLeft:
            hosts.removeAll { $0.sid == event.participant?.sid }
        default:
            guard let participant = event.participant else { return }
            hosts.removeAll { $0.sid == participant.sid }
            if participant.isHost { hosts.append(participant) }
        }
    }

    /// The feeds the mixer reads.
    var inputs: Set<Input> {
        var inputs = Set(hosts.map { Input(participantSID: $0.sid, source: .camera) })
        for host in hosts where host.isScreenSharing { inputs.insert(Input(participantSID: host.sid, source: .screen)) }
        return inputs
    }

    /// What the program shows and sounds like.
    ///
    /// A host whose connection is lost has no camera by the room's account. Its tile follows the camera's input all the
    /// same, which holds the last picture for a moment and then empties by itself: a short loss is a still picture and
    /// no blink. Only a camera that was switched off empties its tile at once.
    var scene: Scene {
        let off = Set(hosts.filter(\.isCameraSwitchedOff).map(\.sid))
        return Scene(
            tiles: tiles.compactMap { resource in
                var tile = Tile(resource)
                if tile?.source == .placeholder, !off.contains(resource.participantSID) { tile?.source = .camera }
                return tile
            },
            audible: Set(hosts.filter(\.isMicOn).map(\.sid))
        )
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
        return configuration
    }
}

extension ParticipantResource {
    fileprivate var isHost: Bool { mode == ParticipantMode.sendAndReceive.rawValue }

    /// The camera is published, and the host shows nothing of it.
    fileprivate var isCameraSwitchedOff: Bool {
        tracks.contains { $0.name == TrackName.camera.rawValue && !$0.enabled }
    }
}

extension Tile {
    /// Reads a tile; nil for one whose words this version does not know.
    fileprivate init?(_ resource: TileResource) {
        guard let source = Source(rawValue: resource.source), let scaleMode = ScaleMode(rawValue: resource.scaleMode)
        else { return nil }
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
