/// The state of a participant in its room.
struct Participant: Sendable {
    let sid: String
    /// The id of the session; a client that knows it acts for the participant.
    let sessionID: String
    let identity: String
    var displayName: String
    /// A JSON object in its canonical text.
    var metadata: String
    /// The image shown without video.
    var avatar: AssetReference?
    /// The audio mix settings as a host.
    var sound: ParticipantAudioSettings
    let callSettings: CallSettings
    /// The tracks that the participant may publish.
    var sources: Set<TrackName>
    var mode: ParticipantMode
    var status: ParticipantStatus = .connecting
    let joinedAt: Double
    /// The time of the last change of mode.
    var modeSince: Double
    var revision: UInt64 = 1
    var liveness: Liveness
    /// The level that the client reports, in dBFS.
    var reportedLevel: Double?
    /// The track states requested through the API; automatic if omitted.
    private(set) var trackPreferences: [TrackName: TrackPreference] = [:]
    private(set) var tracks: [TrackName: Track] = [:]
    /// The tracks that arriving media publishes; nil for all, of an encoder alone.
    ///
    /// A host with a session publishes by command; tracks that its encoder published before stay automatic.
    private(set) var automaticTracks: Set<TrackName>?
    /// The publishing connections by source.
    var flows: [PublishSource: MediaFlow] = [:]
    /// The A/V sync of the host's media in the last mixer report.
    var sync: HostSync?
    /// The A/V sync of its screen, where `sync` belongs to its camera.
    var screenSync: HostSync?
    /// The last refusal of the host's encoder.
    var mediaFault: (error: StageError, at: Double)?
    /// The end of the host's quarantine; nil without one.
    var quarantinedUntil: Double?
    /// What the diagnosis of the host needs to remember.
    var symptoms = HostSymptoms()
    /// The decode states of the tracks in the mixer reports.
    var decoding: [TrackName: TrackDecodeState] = [:]
    /// The gate of ingest; all copies of the participant share it.
    let gate: TrackGate

    init(
        sid: String,
        sessionID: String,
        identity: String,
        displayName: String,
        metadata: String = JoinRequest.emptyMetadata,
        avatar: AssetReference? = nil,
        sound: ParticipantAudioSettings = ParticipantAudioSettings(),
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

    var hasEnabledTrack: Bool { isMicOn || isCameraOn || isScreenOn }

    func preference(for name: TrackName) -> TrackPreference {
        trackPreferences[name] ?? .automatic
    }

    /// Whether arriving media publishes a track.
    func publishesAutomatically(_ name: TrackName) -> Bool {
        isHost && sources.contains(name) && preference(for: name) == .automatic
            && automaticTracks?.contains(name) != false
    }

    /// Tracks whose media arrives and is dropped, because the host has a session and did not publish them.
    var discarded: [TrackName] {
        guard isHost, automaticTracks != nil else { return [] }
        return TrackName.allCases.filter { name in
            receives(name) && tracks[name] == nil && sources.contains(name) && preference(for: name) == .automatic
        }
    }

    /// Records the first signalling of a client, whose commands publish tracks from now on.
    mutating func beginSession() {
        limitAutomaticTracks(to: Set(tracks.keys.filter { preference(for: $0) == .automatic }))
    }

    mutating func limitAutomaticTracks(to names: Set<TrackName>?) {
        automaticTracks = names
        setGate()
    }

    /// Whether media of a track currently arrives.
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

    mutating func setPreference(_ preference: TrackPreference, for name: TrackName) {
        trackPreferences[name] = preference == .automatic ? nil : preference
        setGate()
    }

    /// Resets the tracks to the call settings; requested states apply only while the participant is a host.
    mutating func beginTracks() {
        trackPreferences.removeAll()
        if automaticTracks != nil { automaticTracks = [] }
        if callSettings.isAudioOn == false { trackPreferences[.mic] = .unpublished }
        if callSettings.isVideoOn == false { trackPreferences[.camera] = .unpublished }
        decoding.removeAll()
        setGate()
    }

    /// Updates the gate; it passes nothing of a participant that is not a host.
    func setGate() {
        let names = sources.filter { name in
            let preference = preference(for: name)
            return preference == .automatic ? publishesAutomatically(name) : preference.passesMedia
        }
        gate.open(isHost ? names : [])
    }

    /// Whether an enabled track expects media.
    var isMediaExpected: Bool {
        tracks.values.contains(where: \.isEnabled)
    }
}

/// The connection status of a participant.
public enum ParticipantStatus: String, Sendable, Hashable, Codable {
    /// Joined, without any event stream, heartbeat or media since.
    case connecting
    case connected
    /// The connection, or a host's media, was lost; the participant keeps its tile.
    case reconnecting
    /// No longer in the room.
    case disconnected
}

/// The stored state of a participant.
public struct ParticipantRecord: Sendable, Hashable, Codable {
    /// `PA` and 32 hexadecimal digits.
    public var sid: String
    /// The id of the session; the client reconnects with it.
    public var sessionID: String
    /// The identity.
    public var identity: String
    /// The name on the tile.
    public var displayName: String
    /// A JSON object in its canonical text.
    public var metadata: String
    /// The image shown without video.
    public var avatar: AssetReference?
    /// The audio mix settings as a host.
    public var sound: ParticipantAudioSettings
    /// The effective settings of the client.
    public var callSettings: CallSettings
    /// The tracks that the participant may publish.
    public var sources: Set<TrackName>
    /// The mode.
    public var mode: ParticipantMode
    /// Whether there ever was an event stream or a heartbeat.
    public var hasSession: Bool
    /// The track states requested through the API; omitted ones are automatic.
    public var trackPreferences: [TrackName: TrackPreference]
    /// The tracks that arriving media publishes; nil for all.
    public var automaticTracks: Set<TrackName>?
    /// Seconds since 1970.
    public var joinedAt: Double
    /// The number of changes.
    public var revision: UInt64

    // The stored names of the properties.
    private enum CodingKeys: String, CodingKey {
        case sid
        case sessionID
        case identity
        case displayName
        case metadata
        case avatar
        case sound
        case callSettings
        case sources
        case mode
        case hasSession
        case trackPreferences = "wishes"
        case automaticTracks
        case joinedAt
        case revision
    }
}

/// A snapshot of a participant.
public struct ParticipantView: Sendable, Hashable {
    /// `PA` and 32 hexadecimal digits.
    public var sid: String
    /// The identity; unique in the room.
    public var identity: String
    /// The name on the tile.
    public var displayName: String
    /// A JSON object in its canonical text.
    public var metadata: String
    /// The image shown without video; nil without one.
    public var avatar: AssetReference?
    /// The audio mix settings as a host.
    public var sound: ParticipantAudioSettings
    /// The mode.
    public var mode: ParticipantMode
    /// The connection status.
    public var status: ParticipantStatus
    /// Tracks in the order mic, camera, screen.
    public var tracks: [Track]
    /// Tracks whose media arrives and is dropped, because the host has a session and did not publish them.
    public var discarded: [TrackName] = []
    /// The tile's index; nil without a tile.
    public var position: Int?
    /// The pin for all; nil without one.
    public var pin: Pin?
    /// Whether the participant speaks now.
    public var isSpeaking: Bool
    /// Whether the participant is the dominant speaker.
    public var isDominantSpeaker: Bool
    /// The microphone's level in dBFS, -127 to 0, as the mixer or else the client reports it; nil while unknown.
    ///
    /// Changes of the level cause no event and no new revision.
    public var audioLevel: Double?
    /// The A/V sync of the host's media; nil while unknown.
    ///
    /// Changes cause no event and no new revision.
    public var sync: HostSync?
    /// The A/V sync of the host's screen, where `sync` belongs to its camera; nil otherwise.
    ///
    /// Changes cause no event and no new revision.
    public var screenSync: HostSync?
    /// The end of the host's quarantine after its media crashed the mixer repeatedly; nil without one.
    ///
    /// Seconds since 1970. The value stays until the host publishes again, or is released.
    public var quarantinedUntil: Double?
    /// The identity of who removed the participant from the room; nil for one who was not removed.
    public var removedBy: String?
    /// Seconds since 1970.
    public var joinedAt: Double
    /// The number of changes of this participant.
    public var revision: UInt64

    /// Whether a microphone track is published, subscribed and enabled.
    public var isMicOn: Bool { isOn(.mic) }
    /// Whether a camera track is published, subscribed and enabled.
    public var isCameraOn: Bool { isOn(.camera) }
    /// Whether a screen track is published, subscribed and enabled.
    public var isScreenSharing: Bool { isOn(.screen) }

    /// Returns one track by name; nil while it is not published.
    public func track(_ name: TrackName) -> Track? {
        tracks.first { $0.name == name }
    }

    private func isOn(_ name: TrackName) -> Bool {
        track(name)?.isOn ?? false
    }
}

/// One publishing connection of a host, with its media.
struct MediaFlow: Sendable {
    /// The number of the connection.
    var connection: UInt64
    var media = PublishedMedia()
    /// Whether the connection is open without media.
    var isSilent = false

    /// Whether media arrives.
    var isFlowing: Bool { media.hasVideo || media.hasAudio }
    /// Whether the connection has not sent media yet and may still start.
    var isPending: Bool { !isFlowing && !isSilent }
}

extension PublishedMedia {
    /// Whether the connection carries media of a track; `name` must be a track of the connection's source.
    func carries(_ name: TrackName) -> Bool {
        name == .mic ? hasAudio : hasVideo
    }
}

/// The decode state of one track as the mixer reported it.
struct TrackDecodeState: Sendable {
    /// Seconds for which an omitted track stays decoded, because a new mixer has not decoded anything yet.
    static let omissionTimeout = 2.0

    /// Whether the mixer decodes the track.
    private(set) var isDecoded = false
    private var omittedSince: Double?

    /// - Returns: Whether the track counts as decoded now.
    mutating func update(isDecoded named: Bool, at now: Double) -> Bool {
        if named {
            omittedSince = nil
            isDecoded = true
        } else if isDecoded {
            let since = omittedSince ?? now
            omittedSince = since
            isDecoded = now - since < Self.omissionTimeout
        }
        return isDecoded
    }
}
