import Testing

@testable import Stage

@Suite("Publishing in a room")
struct RoomPublishingTests {
    private var run = StageFixture()
    private let host: String

    init() throws {
        host = try run.join("ann").sid
        _ = run.events()
    }

    private func tile() throws -> Tile {
        try #require(run.room.layout.tiles.first)
    }

    @Test("A host connects, its tracks appear as media arrives, and are seen and heard once the mixer decodes them")
    mutating func publish() throws {
        #expect(try run.view("ann").status == .connecting)
        #expect(run.room.publishBegan(.camera, by: host, connection: 7, at: 1) == .accepted(replacing: nil))
        #expect(try run.view("ann").status == .connected)
        #expect(run.names() == [.participantUpdated])

        try run.send("ann", PublishedMedia(hasAudio: true), connection: 7)
        #expect(run.names() == [.trackPublished])
        #expect(try run.view("ann").tracks.map(\.mediaState) == [.loading])
        try run.mix("ann", [.mic])
        #expect(run.names() == [.trackSubscribed, .layoutChanged])
        #expect(try tile().isMicOn)
        #expect(try tile().source == .placeholder)

        try run.send("ann", StageFixture.media, connection: 7)
        #expect(run.names() == [.participantUpdated, .trackPublished])
        try run.mix("ann")
        #expect(run.names() == [.trackSubscribed, .layoutChanged])
        #expect(try tile().source == .camera)
        let view = try run.view("ann")
        #expect(view.isMicOn && view.isCameraOn && !view.isScreenSharing)
        #expect(view.tracks.map(\.name) == [.mic, .camera])
        #expect(view.tracks[1].width == 1920 && view.tracks[1].height == 1080 && view.tracks[1].codec == "H.264")
        #expect(view.tracks[0].width == nil && view.tracks[0].codec == "AAC")

        try run.send("ann", StageFixture.media, connection: 7)
        try run.mix("ann")
        #expect(run.events().isEmpty, "an equal value causes no event")
    }

    @Test("53404 a refusal is published, an equal one not again within five seconds")
    mutating func refused() throws {
        let hevc = StageError.codecUnsupported("HEVC is not supported")
        let before = try run.view("ann")
        run.room.publishRefused(by: host, hevc, at: 1)
        guard case .participantMediaFailed(let view, let error)? = run.events().first?.payload else {
            Issue.record("nothing was told")
            return
        }
        #expect(view == before && error == hevc)
        run.room.publishRefused(by: host, hevc, at: 5.9)
        #expect(run.events().isEmpty)
        run.room.publishRefused(by: host, .codecUnsupported("AV1 is not supported"), at: 5.9)
        #expect(run.names() == [.participantMediaFailed])
        run.room.publishRefused(by: host, hevc, at: 6)
        run.room.publishRefused(by: "PAnobody", hevc, at: 60)
        #expect(run.names() == [.participantMediaFailed])
    }

    @Test("T5 video that stops turns the tile into a placeholder, and the track stays published")
    mutating func videoStops() throws {
        let connection = try run.encode("ann")
        try run.mix("ann")
        _ = run.events()
        try run.send("ann", PublishedMedia(hasAudio: true, audioCodec: "AAC"), connection: connection)
        #expect(run.names() == [.trackUnsubscribed, .layoutChanged])
        #expect(try tile().source == .placeholder)
        let camera = try #require(run.view("ann").track(.camera))
        #expect(camera.mediaState == .interrupted && !camera.isOn)
        #expect(try run.view("ann").isMicOn)
        // The mixer may report the track a moment longer; without media it is not subscribed.
        try run.mix("ann")
        #expect(try !run.view("ann").isCameraOn)
        try run.send("ann", StageFixture.media, connection: connection)
        try run.mix("ann")
        #expect(try run.view("ann").isCameraOn)
    }

    @Test("T5 a track omitted by the mixer is unsubscribed after two seconds, an omitted host is not")
    mutating func mixerForgets() throws {
        try run.encode("ann")
        try run.mix("ann")
        _ = run.events()
        run.now += 60
        run.room.report(MixerReport(entries: []), at: run.now)
        #expect(try run.view("ann").isCameraOn)
        try run.mix("ann", [.mic])
        run.now += 1.9
        try run.mix("ann", [.mic])
        #expect(try run.view("ann").isCameraOn, "a mixer that took over has not decoded it yet")
        run.now += 0.1
        try run.mix("ann", [.mic])
        #expect(try !run.view("ann").isCameraOn)
        #expect(run.names() == [.trackUnsubscribed, .layoutChanged])
        try run.mix("ann")
        #expect(try run.view("ann").isCameraOn)
    }

    @Test("An encoder that drops keeps its host's place without limit, and may return with the same key")
    mutating func drop() throws {
        let other = try run.join("ben")
        let connection = try run.encode("ann")
        try run.mix("ann")
        _ = run.events()

        try run.stopEncoder("ann", connection: connection)
        let events = run.events()
        #expect(
            events.map(\.name) == [.trackUnpublished, .trackUnpublished, .participantReconnecting, .layoutChanged]
        )
        guard case .participantReconnecting(let view, let error) = events[2].payload else {
            Issue.record("no reason: \(events[2].payload)")
            return
        }
        #expect(view.status == .reconnecting && error.code == 53405)
        run.wait(3_600)
        #expect(run.room.layout.tiles.map(\.participantSID) == [host, other.sid])
        #expect(try tile().source == .placeholder)
        #expect(run.room.counts.hosts == 2)
        _ = run.events()

        try run.encode("ann")
        #expect(run.names() == [.participantReconnected, .trackPublished, .trackPublished])
        #expect(try run.view("ann").status == .connected)
    }

    @Test("a second publisher with the same key wins, and the old one is ignored")
    mutating func secondPublisher() throws {
        let old = try run.encode("ann")
        try run.mix("ann")
        #expect(run.room.publishBegan(.camera, by: host, connection: 99, at: 3) == .accepted(replacing: old))
        _ = run.events()

        try run.stopEncoder("ann", connection: old)
        try run.send("ann", PublishedMedia(), connection: old)
        #expect(run.events().isEmpty)
        #expect(try tile().source == .camera)

        try run.stopEncoder("ann", connection: 99)
        #expect(try tile().source == .placeholder)
    }

    @Test("D28 a screen takes the camera's place in the same tile, fitted, and gives it back")
    mutating func screen() throws {
        run = StageFixture(RoomSettings(name: "show", layout: .init(autoSwitchOnScreenShare: false)))
        try run.join("ann")
        try run.encode("ann")
        let screen = try run.encode("ann", .screen)
        try run.mix("ann", [.mic, .camera, .screen])
        #expect(try tile().source == .screen)
        #expect(try tile().scaleMode == .fit)
        #expect(try run.view("ann").tracks.map(\.name) == [.mic, .camera, .screen])

        try run.stopEncoder("ann", .screen, connection: screen)
        #expect(try tile().source == .camera)
        #expect(try tile().scaleMode == .fill)
        #expect(try run.view("ann").status == .connected)
    }

    @Test("V3 only a host of the room publishes and has an open gate")
    mutating func refusals() throws {
        let viewer = try run.join("eve", .receiveOnly)
        #expect(run.room.publishBegan(.camera, by: viewer.sid, connection: 5, at: 2) == .refused(.wrongMode))
        #expect(run.room.publishBegan(.camera, by: "PA0", connection: 5, at: 2) == .refused(.unknownKey))
        #expect(viewer.gate.openTracks.isEmpty)
        let gate = try run.participant("ann").gate
        #expect(gate.openTracks == [.mic, .camera, .screen])
        try run.room.end(at: 3)
        #expect(run.room.publishBegan(.camera, by: host, connection: 5, at: 4) == .refused(.roomEnded))
        #expect(gate.openTracks.isEmpty)
    }

    @Test("A token that names its sources lets nothing else pass")
    mutating func sources() throws {
        let request = JoinRequest(identity: "ben", mode: .sendAndReceive, sources: [.mic])
        let ben = try run.room.join(request, at: run.now)
        #expect(ben.gate.openTracks == [.mic])
        try run.encode("ben")
        #expect(try run.view("ben").tracks.map(\.name) == [.mic])
        let room = run.room
        let error = #expect(throws: StageError.self) {
            var room = room
            _ = try room.publishTrack(.screen, of: "ben", isEnabled: true, at: 5)
        }
        #expect(error?.code == 20106)
    }
}

@Suite("Host quarantine")
struct RoomQuarantineTests {
    private var run = StageFixture()
    private let host: String

    init() throws {
        host = try run.join("ann").sid
        _ = run.events()
    }

    @Test("quarantine is published once with its reason, and refuses the encoder until its end")
    mutating func refused() throws {
        run.room.quarantine(host, seconds: 30, at: 1000)
        guard case .participantMediaFailed(let view, let error)? = run.events().first?.payload else {
            Issue.record("nothing was told")
            return
        }
        #expect(view.quarantinedUntil == 1030 && error.code == 53404 && error.retryAfter == 30)
        #expect(run.room.refusal(ofPublisher: host, at: 1029.5) == .quarantined(seconds: 1))
        let admission = run.room.publishBegan(.camera, by: host, connection: 1, at: 1029.5)
        #expect(admission == .refused(.quarantined(seconds: 1)))
        #expect(run.names() == [])
        #expect(run.room.publishBegan(.camera, by: host, connection: 2, at: 1030) == .accepted(replacing: nil))
        #expect(try run.view("ann").quarantinedUntil == nil)
        #expect(run.names().contains(.participantUpdated))
    }

    @Test("an operator ends the quarantine, and a rejoin has none")
    mutating func released() throws {
        run.room.quarantine(host, seconds: 30, at: 1000)
        _ = run.events()
        try run.room.release("ann", at: 1001)
        #expect(run.names() == [.participantUpdated])
        #expect(run.room.refusal(ofPublisher: host, at: 1001) == nil)
        try run.room.release("ann", at: 1002)
        #expect(run.names() == [])
        #expect(run.code { try $0.release("nobody", at: 1002) } == 53204)

        run.room.quarantine(host, seconds: 30, at: 1003)
        let next = try run.join("ann").sid
        #expect(next != host)
        #expect(run.room.refusal(ofPublisher: next, at: 1003) == nil)
        #expect(run.room.refusal(ofPublisher: host, at: 1003) == .unknownKey)
    }

    @Test("quarantine ignores participants that are not hosts")
    mutating func others() throws {
        let viewer = try run.join("eve", .receiveOnly).sid
        _ = run.events()
        run.room.quarantine(viewer, seconds: 30, at: 1000)
        run.room.quarantine("PAnobody", seconds: 30, at: 1000)
        #expect(run.names() == [])
    }
}

@Suite("A host's connection before, and without, its first media")
struct RoomConnectionTests {
    private var run = StageFixture()

    private func reasons(_ events: [StageEvent]) -> [Int] {
        events.compactMap { event in
            if case .participantReconnecting(_, let error) = event.payload { error.code } else { nil }
        }
    }

    private func left(_ events: [StageEvent]) -> [LeaveReason] {
        events.compactMap { event in
            if case .participantLeft(_, let reason) = event.payload { reason } else { nil }
        }
    }

    /// A host with a session, a camera by command, and a connection that has not sent media yet.
    private mutating func connect(_ connection: UInt64 = 9) throws {
        try run.join("ann")
        try run.heartbeat("ann")
        _ = try run.room.publishTrack(.camera, of: "ann", isEnabled: true, at: run.now)
        try begin(connection)
        _ = run.events()
    }

    private mutating func begin(_ connection: UInt64) throws {
        _ = run.room.publishBegan(.camera, by: try run.participant("ann").sid, connection: connection, at: run.now)
    }

    /// Advances the time with heartbeats.
    private mutating func live(_ seconds: Double) throws {
        let end = run.now + seconds
        while run.now < end {
            try run.heartbeat("ann")
            run.wait(min(1, end - run.now))
        }
    }

    @Test("53405 a signalled host whose connection never sends is reconnecting at 3 s and removed at 15 s")
    mutating func neverSends() throws {
        try connect()
        try live(3)
        #expect(run.events().isEmpty)
        try run.send("ann", PublishedMedia(), connection: 9)
        #expect(reasons(run.events()) == [53405])
        try live(11.75)
        #expect(run.events().isEmpty)
        run.wait(0.25)
        #expect(left(run.events()) == [.mediaTimeout])
    }

    @Test("53405 the time for first media begins with the connection")
    mutating func clockBegins() throws {
        try run.join("ann")
        try run.heartbeat("ann")
        _ = try run.room.publishTrack(.camera, of: "ann", isEnabled: true, at: run.now)
        try live(10)
        try begin(9)
        try live(14.75)
        #expect(left(run.events()).isEmpty)
        run.wait(0.25)
        #expect(left(run.events()) == [.mediaTimeout])
    }

    @Test("A start that takes two seconds is no loss")
    mutating func normalStart() throws {
        try connect()
        try live(2)
        try run.send("ann", StageFixture.media, connection: 9)
        try run.mix("ann")
        try live(60)
        let events = run.events()
        #expect(reasons(events).isEmpty && left(events).isEmpty)
        #expect(try run.view("ann").status == .connected)
    }

    @Test("A connection that takes over shows what was there until it begins, and is missed when it does not")
    mutating func takeover() throws {
        try connect()
        try run.send("ann", StageFixture.media, connection: 9)
        try run.mix("ann")
        try live(5)
        _ = run.events()
        try begin(10)
        try run.mix("ann")
        #expect(run.events().isEmpty)
        #expect(try run.view("ann").isCameraOn)
        try live(3)
        try run.send("ann", PublishedMedia(), connection: 10)
        let events = run.events()
        #expect(reasons(events) == [53405])
        #expect(try !run.view("ann").isCameraOn && !run.view("ann").isMicOn)
        try live(12)
        #expect(left(run.events()) == [.mediaTimeout])
    }

    @Test("The screen's connection keeps a host whose camera has ended, for as long as it may begin")
    mutating func pendingScreen() throws {
        try connect()
        try run.send("ann", StageFixture.media, connection: 9)
        _ = run.room.publishBegan(.screen, by: try run.participant("ann").sid, connection: 10, at: run.now)
        try live(20)
        #expect(left(run.events()).isEmpty)
        try run.stopEncoder("ann", connection: 9)
        #expect(reasons(run.events()).isEmpty)
        try live(14.75)
        #expect(left(run.events()).isEmpty)
        run.wait(0.25)
        #expect(left(run.events()) == [.mediaTimeout])
    }

    @Test("An encoder and nothing else that never sends is missed, and never removed")
    mutating func encoderOnly() throws {
        try run.join("ann")
        try begin(9)
        #expect(try run.view("ann").status == .connected)
        run.wait(3)
        _ = run.events()
        try run.send("ann", PublishedMedia(), connection: 9)
        #expect(reasons(run.events()) == [53405])
        run.wait(3_600)
        #expect(run.events().isEmpty)
        try run.send("ann", StageFixture.media, connection: 9)
        #expect(run.names().contains(.participantReconnected))
    }
}
