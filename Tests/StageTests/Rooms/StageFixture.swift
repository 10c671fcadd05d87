@testable import Stage

/// A room with the shortcuts of its tests.
struct StageFixture {
    var room: Room
    /// Seconds since 1970; moved by hand.
    var now = 1_000.0
    private var lastConnection: UInt64 = 0

    init(_ settings: RoomSettings = RoomSettings(name: "show")) {
        room = Room(settings: settings, replayedEvents: 64, at: 1_000)
        _ = room.drainEvents()
    }

    static let media = PublishedMedia(
        hasVideo: true,
        hasAudio: true,
        width: 1920,
        height: 1080,
        frameRate: 30,
        videoCodec: "H.264",
        audioCodec: "AAC"
    )

    @discardableResult
    mutating func join(
        _ identity: String,
        _ mode: ParticipantMode = .sendAndReceive,
        _ callSettings: CallSettings = CallSettings()
    ) throws -> Participant {
        try room.join(JoinRequest(identity: identity, mode: mode, callSettings: callSettings), at: now)
    }

    func index(_ identity: String) throws -> Int { try room.existing(identity) }

    mutating func heartbeat(_ identity: String) throws {
        room.heartbeat(at: try index(identity), now: now)
    }

    /// Connects an encoder that sends media.
    @discardableResult
    mutating func encode(
        _ identity: String,
        _ source: PublishSource = .camera,
        media: PublishedMedia = StageFixture.media
    ) throws -> UInt64 {
        lastConnection += 1
        let sid = try participant(identity).sid
        guard room.publishBegan(source, by: sid, connection: lastConnection, at: now) == .accepted(replacing: nil)
        else {
            return 0
        }
        try send(identity, media, source, connection: lastConnection)
        return lastConnection
    }

    mutating func send(
        _ identity: String,
        _ media: PublishedMedia,
        _ source: PublishSource = .camera,
        connection: UInt64
    ) throws {
        let sid = try participant(identity).sid
        room.publishChanged(source, by: sid, connection: connection, media: media, at: now)
    }

    mutating func stopEncoder(
        _ identity: String,
        _ source: PublishSource = .camera,
        connection: UInt64,
        isLost: Bool = true
    ) throws {
        let sid = try participant(identity).sid
        room.publishEnded(source, by: sid, connection: connection, isLost: isLost, at: now)
    }

    /// Reports the tracks that the mixer decodes.
    mutating func mix(_ identity: String, _ names: Set<TrackName> = [.mic, .camera]) throws {
        let sid = try participant(identity).sid
        let entry = MixerReport.Entry(participantSID: sid, audioLevel: nil, subscribed: names)
        room.report(MixerReport(entries: [entry]), at: now)
    }

    /// Advances the time, with sweeps as often as in the running gateway.
    mutating func wait(_ seconds: Double) {
        let end = now + seconds
        while now < end {
            now = min(now + 0.25, end)
            _ = room.sweep(at: now)
        }
    }

    func participant(_ identity: String) throws -> Participant {
        room.participants[try index(identity)]
    }

    func view(_ identity: String) throws -> ParticipantView {
        room.view(of: try participant(identity))
    }

    /// Returns the error code of a command; nil on success.
    mutating func code(_ command: (inout Room) throws -> Void) -> Int? {
        do {
            try command(&room)
            return nil
        } catch {
            return (error as? StageError)?.code
        }
    }

    mutating func events() -> [StageEvent] { room.drainEvents() }
    mutating func names() -> [StageEvent.Name] { room.drainEvents().map(\.name) }
}
