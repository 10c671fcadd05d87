import Testing

@testable import Stage

@Suite("Publishing in a room")
struct RoomPublishingTests {
    private var room: Room
    private let host: String

    init() throws {
        room = Room(settings: RoomSettings(name: "show"), replayedEvents: 64, at: 0)
        host = try room.join(JoinRequest(identity: "ann", mode: .sendAndReceive), at: 1).sid
        _ = room.takeEvents()
    }

    private static let both = PublishedMedia(
        hasVideo: true,
        hasAudio: true,
        width: 1920,
        height: 1080,
        frameRate: 30,
        videoCodec: "H.264",
        audioCodec: "AAC"
    )

    private func tile() throws -> Tile {
        try #require(room.layout.tiles.first)
    }

    @Test("A host connects, its tracks appear as media arrives, and the tile shows the camera")
    mutating func publish() throws {
        #expect(room.view.participants[0].status == .connecting)
        #expect(room.publishBegan(.camera, by: host, connection: 7, at: 2) == .accepted(replacing: nil))
        #expect(room.view.participants[0].status == .connected)
        #expect(room.takeEvents().map(\.name) == [.participantUpdated])

        room.publishChanged(.camera, by: host, connection: 7, media: PublishedMedia(hasAudio: true), at: 2)
        #expect(room.takeEvents().map(\.name) == [.trackPublished, .trackSubscribed, .layoutChanged])
        #expect(try tile().isMicOn)
        #expect(try tile().source == .placeholder)

        room.publishChanged(.camera, by: host, connection: 7, media: Self.both, at: 3)
        #expect(
            room.takeEvents().map(\.name) == [.participantUpdated, .trackPublished, .trackSubscribed, .layoutChanged]
        )
        #expect(try tile().source == .camera)
        let view = room.view.participants[0]
        #expect(view.isMicOn && view.isCameraOn && !view.isScreenSharing)
        #expect(view.tracks.map(\.name) == [.mic, .camera])
        #expect(view.tracks[1].width == 1920 && view.tracks[1].height == 1080 && view.tracks[1].codec == "H.264")
        #expect(view.tracks[0].width == nil && view.tracks[0].codec == "AAC")

        room.publishChanged(.camera, by: host, connection: 7, media: Self.both, at: 4)
        #expect(room.takeEvents().isEmpty, "the same again is no news")
    }

    @Test("Pictures that stop turn the tile into a placeholder, and the track stays published")
    mutating func picturesStop() throws {
        _ = room.publishBegan(.camera, by: host, connection: 1, at: 2)
        room.publishChanged(.camera, by: host, connection: 1, media: Self.both, at: 2)
        _ = room.takeEvents()
        room.publishChanged(.camera, by: host, connection: 1, media: PublishedMedia(hasAudio: true), at: 5)
        #expect(try tile().source == .placeholder)
        let camera = try #require(room.view.participants[0].tracks.first { $0.name == .camera })
        #expect(camera.mediaState == .interrupted)
        #expect(!camera.isOn)
        #expect(room.takeEvents().map(\.name).contains(.trackUnsubscribed))
    }

    @Test("A host whose connection drops keeps its place, and may return with the same key")
    mutating func drop() throws {
        let other = try room.join(JoinRequest(identity: "ben", mode: .sendAndReceive), at: 1)
        _ = room.publishBegan(.camera, by: host, connection: 1, at: 2)
        room.publishChanged(.camera, by: host, connection: 1, media: Self.both, at: 2)
        _ = room.takeEvents()

        room.publishEnded(.camera, by: host, connection: 1, at: 9)
        #expect(
            room.takeEvents().map(\.name) == [
                .trackUnpublished, .trackUnpublished, .participantReconnecting, .layoutChanged,
            ]
        )
        #expect(room.layout.tiles.map(\.participantSID) == [host, other.sid])
        #expect(try tile().source == .placeholder)
        #expect(room.view.participants[0].status == .reconnecting)
        #expect(room.counts.hosts == 2)

        #expect(room.publishBegan(.camera, by: host, connection: 2, at: 12) == .accepted(replacing: nil))
        #expect(room.takeEvents().map(\.name) == [.participantReconnected])
        #expect(room.view.participants[0].status == .connected)
    }

    @Test("A second publisher with the same key wins, and what the old one says is ignored")
    mutating func secondPublisher() throws {
        _ = room.publishBegan(.camera, by: host, connection: 1, at: 2)
        room.publishChanged(.camera, by: host, connection: 1, media: Self.both, at: 2)
        #expect(room.publishBegan(.camera, by: host, connection: 2, at: 3) == .accepted(replacing: 1))
        _ = room.takeEvents()

        room.publishEnded(.camera, by: host, connection: 1, at: 4)
        room.publishChanged(.camera, by: host, connection: 1, media: PublishedMedia(), at: 4)
        #expect(room.takeEvents().isEmpty)
        #expect(try tile().source == .camera)

        room.publishEnded(.camera, by: host, connection: 2, at: 5)
        #expect(try tile().source == .placeholder)
    }

    @Test("D28 a screen takes the camera's place in the same tile, fitted, and gives it back")
    mutating func screen() throws {
        _ = room.publishBegan(.camera, by: host, connection: 1, at: 2)
        room.publishChanged(.camera, by: host, connection: 1, media: Self.both, at: 2)
        _ = room.publishBegan(.screen, by: host, connection: 2, at: 3)
        room.publishChanged(.screen, by: host, connection: 2, media: Self.both, at: 3)
        #expect(try tile().source == .screen)
        #expect(try tile().scaleMode == .fit)
        #expect(room.view.participants[0].tracks.map(\.name) == [.mic, .camera, .screen])

        room.publishEnded(.screen, by: host, connection: 2, at: 4)
        #expect(try tile().source == .camera)
        #expect(try tile().scaleMode == .fill)
        #expect(room.view.participants[0].status == .connected)
    }

    @Test("Nobody but a host of the room publishes")
    mutating func refusals() throws {
        let viewer = try room.join(JoinRequest(identity: "eve", mode: .receiveOnly), at: 1)
        #expect(room.publishBegan(.camera, by: viewer.sid, connection: 5, at: 2) == .refused(.wrongMode))
        #expect(room.publishBegan(.camera, by: "PA0", connection: 5, at: 2) == .refused(.unknownKey))
        try room.end(at: 3)
        #expect(room.publishBegan(.camera, by: host, connection: 5, at: 4) == .refused(.roomEnded))
    }
}
