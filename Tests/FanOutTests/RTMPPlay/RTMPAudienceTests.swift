@testable import FanOut
import FootlightTesting
import Media
import NIOCore
import RTMP
import Stage
import Testing

@Suite("RTMP play over a real connection")
struct RTMPAudienceTests {
    private func withStand(maximumViewers: Int = 100, _ body: (RTMPStand) async throws -> Void) async throws {
        try await withLoops { group in
            let stand = try await RTMPStand(group, maximumViewers: maximumViewers)
            do {
                try await body(stand)
            } catch {
                await stand.server.shutdown()
                throw error
            }
            await stand.server.shutdown()
        }
    }

    @Test("A player gets the present group of pictures at once and then everything, byte for byte")
    func plays() async throws {
        try await withStand { (stand: RTMPStand) async throws -> Void in
            let feed = stand.feeds.open("r")
            let opening = [Packets.metadata(), Packets.video(), Packets.audio(), Packets.key(0), Packets.picture(40)]
            for packet in opening { feed.receive(packet) }
            let player = stand.play("r")
            #expect(try await eventually { player.got.count == 5 })
            let live = [Packets.picture(80, bytes: 200_000), Packets.sound(90), Packets.key(120)]
            for packet in live { feed.receive(packet) }
            #expect(try await eventually { player.got.count == 8 })
            #expect(player.got.map(\.body) == (opening + live).map(\.body))
            #expect(player.got.map(\.timestamp) == [0, 0, 0, 0, 40, 80, 90, 120])
            player.stop()
            #expect(try await eventually { stand.audience.story.count == 2 })
            #expect(stand.audience.story == ["opened r-1", "closed(left) r-1"])
            #expect(stand.audience.events.allSatisfy { $0.playback == .rtmp && $0.room == "r" })
            #expect(feed.activity.viewers == 0)
        }
    }

    @Test("A room that is not there is refused by name, and nobody is counted")
    func unknownRoom() async throws {
        try await withStand { (stand: RTMPStand) async throws -> Void in
            let player = stand.play("nowhere")
            #expect(try await eventually { !player.end.isEmpty })
            #expect(player.end.first?.contains("StreamNotFound") == true)
            #expect(player.got.isEmpty)
            #expect(stand.audience.events.isEmpty)
        }
    }

    @Test("A session id of ours is resumed, any other is replaced by a fresh one, a mixer has none")
    func sessions() async throws {
        try await withStand { (stand: RTMPStand) async throws -> Void in
            stand.feeds.open("r").receive(Packets.key(0))
            for (name, story) in [("r?sid=r-42", ["opened r-42"]), ("r?sid=forged", ["opened r-42", "opened r-1"])] {
                let player = stand.play(name)
                #expect(try await eventually { player.got.count == 1 })
                #expect(stand.audience.story == story)
            }
            // Nor is it given up as soon as a viewer.
            #expect(RTMPViewer(feed: stand.feeds.open("r"), session: nil).taken == nil)
            let mixer = stand.play("r?mixer=1")
            #expect(try await eventually { mixer.got.count == 1 })
            #expect(stand.audience.story.count == 2)
            #expect(stand.feeds.feed("r")?.activity.viewers == 3)
        }
    }

    @Test("A player says who it is as by HTTP: its name, its address, its device, its token; a monitor plays uncounted")
    func identity() async throws {
        try await withStand { (stand: RTMPStand) async throws -> Void in
            stand.feeds.open("r").receive(Packets.key(0))
            for (name, story) in [
                ("r?did=0123456789abcdef&identity=ann", ["opened r-1"]),
                ("r?monitor=1&identity=eye", ["opened r-1", "opened no-r-2"]),
            ] {
                let player = stand.play(name)
                #expect(try await eventually { player.got.count == 1 })
                #expect(stand.audience.story == story)
            }
            let requests = stand.audience.requests
            #expect(requests.map(\.userAgent) == ["LNX 9,0,124,2", "LNX 9,0,124,2"])
            #expect(requests.map(\.address) == ["127.0.0.1", "127.0.0.1"])
            #expect(requests.map(\.device) == ["0123456789abcdef", nil])
            #expect(requests.map(\.identity) == ["ann", "eye"] && requests.map(\.role) == [.viewer, .monitor])
        }
    }

    @Test("Who plays a rendition is recorded in it")
    func rendition() async throws {
        try await withStand { (stand: RTMPStand) async throws -> Void in
            let ladder = stand.feeds.open("r", with: RenditionLadder(hasAudioOnly: true))
            ladder.program.receive(Packets.key(0))
            for rendition in ladder.renditions { rendition.feed.receive(Packets.key(0)) }
            let name = try #require(ladder.renditions.first?.name)
            let player = stand.play("r_\(name)")
            #expect(try await eventually { player.got.count == 1 })
            #expect(stand.audience.events.map(\.rendition) == [name] && stand.audience.events.map(\.room) == ["r"])
        }
    }

    @Test("A gateway that is full says so, and counts nobody")
    func full() async throws {
        try await withStand(maximumViewers: 1) { (stand: RTMPStand) async throws -> Void in
            stand.feeds.open("r").receive(Packets.key(0))
            let first = stand.play("r")
            #expect(try await eventually { first.got.count == 1 })
            let second = stand.play("r")
            #expect(try await eventually { !second.end.isEmpty })
            #expect(second.end.first?.contains("NetStream.Play.Failed") == true)
            #expect(stand.audience.story == ["opened r-1"])
        }
    }

    @Test("While memory is short new players are told so and counted; those who watch go on, and later others come in")
    func held() async throws {
        try await withStand { (stand: RTMPStand) async throws -> Void in
            let feed = stand.feeds.open("r")
            feed.receive(Packets.key(0))
            let early = stand.play("r")
            #expect(try await eventually { early.got.count == 1 })
            stand.feeds.holdAdmission(true)
            let refused = stand.play("r")
            #expect(try await eventually { !refused.end.isEmpty })
            #expect(refused.end.first?.contains("NetStream.Play.Failed") == true)
            #expect(refused.got.isEmpty)
            feed.receive(Packets.picture(40))
            #expect(try await eventually { early.got.count == 2 })
            #expect(stand.feeds.load.refused == [.rtmp: 1, .flv: 0, .hls: 0])
            #expect(stand.feeds.load.isHeld)
            stand.feeds.holdAdmission(false)
            let late = stand.play("r")
            #expect(try await eventually { late.got.count == 2 })
            #expect(stand.audience.story == ["opened r-1", "opened r-2"])
        }
    }

    @Test("While there is no room, or memory is short, who shows its session id goes on; a foreign one is a newcomer")
    func returns() async throws {
        try await withStand(maximumViewers: 1) { (stand: RTMPStand) async throws -> Void in
            stand.feeds.open("r").receive(Packets.key(0))
            let first = stand.play("r")
            #expect(try await eventually { first.got.count == 1 })
            stand.feeds.holdAdmission(true)
            let back = stand.play("r?sid=r-1")
            #expect(try await eventually { back.got.count == 1 })
            // Of another room, never seen here, and one that has come back already.
            for (number, foreign) in ["other-1", "r-7", "r-1"].enumerated() {
                let stranger = stand.play("r?sid=\(foreign)")
                #expect(try await eventually { !stranger.end.isEmpty })
                #expect(stranger.end.first?.contains("NetStream.Play.Failed") == true)
                #expect(stand.feeds.load.refused[.rtmp] == UInt64(number) + 1)
            }
            #expect(stand.audience.story == ["opened r-1", "opened r-1"])
        }
    }

    @Test("When the room ends every player is told and closed, once")
    func roomEnds() async throws {
        try await withStand { (stand: RTMPStand) async throws -> Void in
            stand.feeds.open("r").receive(Packets.key(0))
            let players = (0..<4).map { _ in stand.play("r") }
            #expect(try await eventually { players.allSatisfy { $0.got.count == 1 } })
            stand.feeds.close("r", reason: .roomEnded)
            #expect(try await eventually { players.allSatisfy { $0.end.count == 1 } })
            #expect(players.allSatisfy { $0.end.first?.contains("UnpublishNotify") == true })
            #expect(stand.audience.story.filter { $0.hasPrefix("closed(roomEnded)") }.count == 4)
            #expect(stand.audience.story.count == 8)
        }
    }
}
