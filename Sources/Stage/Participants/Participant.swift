/// A participant's state inside its room.
struct Participant: Sendable {
    let sid: String
    /// Names this stay of the participant; whoever knows it speaks for the participant.
    let sessionID: String
    let identity: String
    var displayName: String
    /// A JSON object in its canonical text.
    var metadata: String
    /// The picture that stands for the participant while there is no other.
    var avatar: AssetReference?
    /// How the participant is mixed as a host.
    var sound: ParticipantSound
    let callSettings: CallSettings
    /// The tracks that the participant may publish at all.
    var sources: Set<TrackName>
    var mode: ParticipantMode
    var status: ParticipantStatus = .connecting
    let joinedAt: Double
    /// When the participant got its present mode.
    var modeSince: Double
    var revision: UInt64 = 1
    var liveness: Liveness
    /// The level that the client reports of itself, in dBFS.
    var reportedLevel: Double?
    /// What was said of each track through the API; automatic where nothing was.
    private(set) var wishes: [TrackName: TrackWish] = [:]
    private(set) var tracks: [TrackName: Track] = [:]
    /// The tracks that are published when their media arrives; nil for all, of an encoder alone.
    ///
    /// A host with a session publishes by command; what its encoder had published before it had one goes on to be.
    private(set) var automaticTracks: Set<TrackName>?
    /// What publishes now, by what it publishes.
    var flows: [PublishSource: MediaFlow] = [:]
    /// How the host's media keeps time, as the mixer said last.
    var sync: HostSync?
    /// The same of its screen, where that is of its camera.
    var screenSync: HostSync?
    /// Why the host's encoder was last refused.
    var mediaFault: (error: StageError, at: Double)?
    /// Until when nothing is taken of the host, whose media ended the mixer again and again; nil unless it did.
    var quarantinedUntil: Double?
    /// What the mixer says of each track.
    var decoding: [TrackName: DecodingClaim] = [:]
    /// What ingest may pass on; every copy of the participant shares it.
    let gate: TrackGate

    init(
        sid: String,
        sessionID: String,
        identity: String,
        displayName: String,
        metadata: String = JoinRequest.emptyMetadata,
        avatar: AssetReference? = nil,
        sound: ParticipantSound = ParticipantSound(),
        callSettings: CallSettings = CallSettings(),
        sources: Set<TrackName> = Set(TrackName.allCases),
        mode: ParticipantMode,
        joinedAt: Double,
        liveness: Liveness
    ) {
        self.sid = sid
        self.sessionID = sessionID
        self.identity = identity
        self.displayName = displayName
        self.metadata = metadata
        self.avatar = avatar
        self.sound = sound
        self.callSettings = callSettings
        self.sources = sources
        self.mode = mode
        self.joinedAt = joinedAt
        modeSince = joinedAt
        self.liveness = liveness
        gate = TrackGate()
    }

    var isHost: Bool { mode == .sendAndReceive }
    var isMicOn: Bool { tracks[.mic]?.isOn ?? false }
    var isCameraOn: Bool { tracks[.camera]?.isOn ?? false }
    var isScreenOn: Bool { tracks[.screen]?.isOn ?? false }

    var isSeenOrHeard: Bool { isMicOn || isCameraOn || isScreenOn }

    func wish(for name: TrackName) -> TrackWish {
        wishes[name] ?? .automatic
    }

    /// Whether a track of which nothing was said is published when its media arrives.
    func publishesAutomatically(_ name: TrackName) -> Bool {
        isHost && sources.contains(name) && wish(for: name) == .automatic && automaticTracks?.contains(name) != false
    }

    /// Tracks whose media arrives and is dropped, for the host has a session and did not publish them.
    var discarded: [TrackName] {
        guard isHost, automaticTracks != nil else { return [] }
        return TrackName.allCases.filter { name in
            receives(name) && tracks[name] == nil && sources.contains(name) && wish(for: name) == .automatic
        }
    }

    /// There is a client from now on, by whose commands tracks are published.
    mutating func beginSession() {
        limitAutomaticTracks(to: Set(tracks.keys.filter { wish(for: $0) == .automatic }))
    }

    mutating func limitAutomaticTracks(to names: Set<TrackName>?) {
        automaticTracks = names
        setGate()
    }

    /// Whether media of a track arrives at this moment.
    func receives(_ name: TrackName) -> Bool {
        flows[name.source]?.media.carries(name) ?? false
    }

    mutating func set(_ track: Track) {
        tracks[track.name] = track
    }

    mutating func removeTrack(_ name: TrackName) -> Track? {
        decoding[name] = nil
        return tracks.removeValue(forKey: name)
    }

    mutating func setWish(_ wish: TrackWish, for name: TrackName) {
        wishes[name] = wish == .automatic ? nil : wish
        setGate()
    }

    /// Begins with what the call settings say; what was said later holds only for as long as somebody is a host.
    mutating func beginTracks() {
        wishes.removeAll()
        if automaticTracks != nil { automaticTracks = [] }
        if callSettings.isAudioOn == false { wishes[.mic] = .withdrawn }
        if callSettings.isVideoOn == false { wishes[.camera] = .withdrawn }
        decoding.removeAll()
        setGate()
    }

    /// Opens the gate for what may pass now: nothing of somebody who is no host.
    func setGate() {
        let names = sources.filter { name in
            let wish = wish(for: name)
            return wish == .automatic ? publishesAutomatically(name) : wish.passesMedia
        }
        gate.open(isHost ? names : [])
    }

    /// Whether some track is there that is supposed to be heard or seen.
    var isMediaExpected: Bool {
        tracks.values.contains(where: \.isEnabled)
    }
}
