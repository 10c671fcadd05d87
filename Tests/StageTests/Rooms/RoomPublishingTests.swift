import Testing

@testable import Stage

@Suite("Publishing in a room")
struct RoomPublishingTests {
    private var run = StageRun()
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

        try run.send("ann", StageRun.media, connection: 7)
        #expect(run.names() == [.participantUpdated, .trackPublished])
        try run.mix("ann")
        #expect(run.names() == [.trackSubscribed, .layoutChanged])
        #expect(try tile().source == .camera)
        let view = try run.view("ann")
        #expect(view.isMicOn && view.isCameraOn && !view.isScreenSharing)
        #expect(view.tracks.map(\.name) == [.mic, .camera])
        #expect(view.tracks[1].width == 1920 && view.tracks[1].height == 1080 && view.tracks[1].codec == "H.264")
        #expect(view.tracks[0].width == nil && view.tracks[0].codec == "AAC")

        try run.send("ann", StageRun.media, connection: 7)
        try run.mix("ann")
        #expect(run.events().isEmpty, "the same again is no news")
    }

    @Test("53404 what an encoder is refused for is told, the same not again for five seconds, and nothing else changes")
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

    @Test("T5 pictures that stop turn the tile into a placeholder, and the track stays published")
    mutating func picturesStop() throws {
        let connection = try run.encode("ann")
        try run.mix("ann")
        _ = run.events()
        try run.send("ann", PublishedMedia(hasAudio: true, audioCodec: "AAC"), connection: connection)
        #expect(run.names() == [.trackUnsubscribed, .layoutChanged])
        #expect(try tile().source == .placeholder)
        let camera = try #require(run.view("ann").track(.camera))
        #expect(camera.mediaState == .interrupted && !camera.isOn)
        #expect(try run.view("ann").isMicOn)
        // The mixer may say so a moment longer; what does not arrive is not subscribed.
        try run.mix("ann")
        #expect(try !run.view("ann").isCameraOn)
        try run.send("ann", StageRun.media, connection: connection)
        try run.mix("ann")
        #expect(try run.view("ann").isCameraOn)
    }

    @Test("T5 a mixer that names a track no more takes it away after two seconds, one that says nothing takes none")
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

    @Test("A second publisher with the same key wins, and what the old one says is ignored")
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
        run = StageRun(RoomSettings(name: "show", layout: .init(autoSwitchOnScreenShare: false)))
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

    @Test("V3 nobody but a host of the room publishes, and nobody else's gate is open")
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
