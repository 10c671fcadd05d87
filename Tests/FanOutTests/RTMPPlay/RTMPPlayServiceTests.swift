@testable import FanOut
import FootlightTesting
import Media
import NIOCore
import RTMP
import Stage
import Testing

@Suite("RTMP play over a real connection")
struct RTMPPlayServiceTests {
    private func withFixture(
        maximumViewers: Int = 100,
        writesDirectly: Bool = true,
        _ body: (RTMPFixture) async throws -> Void
    ) async throws {
        try await withLoops { group in
            let configuration = FanOutConfiguration(
                tick: .zero,
                maximumViewers: maximumViewers,
                writesDirectly: writesDirectly
            )
            let fixture = try await RTMPFixture(group, configuration: configuration)
            do {
                try await body(fixture)
            } catch {
                await fixture.server.shutdown()
                throw error
            }
            await fixture.server.shutdown()
        }
    }

    @Test(
        "a player receives the current GOP at once and then every packet, byte for byte, with direct writes and without",
        arguments: [true, false]
    )
    func plays(writesDirectly: Bool) async throws {
        try await withFixture(writesDirectly: writesDirectly) { (fixture: RTMPFixture) async throws -> Void in
            let feed = fixture.feeds.open("r")
            let opening = [Packets.metadata(), Packets.video(), Packets.audio(), Packets.key(0), Packets.frame(40)]
            for packet in opening { feed.receive(packet) }
            let player = fixture.play("r")
            #expect(try await eventually { player.got.count == 5 })
            let live = [Packets.frame(80, bytes: 200_000), Packets.audioFrame(90), Packets.key(120)]
            for packet in live { feed.receive(packet) }
            #expect(try await eventually { player.got.count == 8 })
            #expect(player.got.map(\.body) == (opening + live).map(\.body))
            #expect(player.got.map(\.timestamp) == [0, 0, 0, 0, 40, 80, 90, 120])
            player.stop()
            #expect(try await eventually { fixture.audience.eventLog.count == 2 })
            #expect(fixture.audience.eventLog == ["opened r-1", "closed(left) r-1"])
            #expect(fixture.audience.events.allSatisfy { $0.playback == .rtmp && $0.room == "r" })
            #expect(feed.activity.viewers == 0)
        }
    }

    @Test("refuses an unknown room by name, and counts no viewer")
    func unknownRoom() async throws {
        try await withFixture { (fixture: RTMPFixture) async throws -> Void in
            let player = fixture.play("nowhere")
            #expect(try await eventually { !player.end.isEmpty })
            #expect(player.end.first?.contains("StreamNotFound: There is no room nowhere") == true, "\(player.end)")
            #expect(player.got.isEmpty)
            #expect(fixture.audience.events.isEmpty)
        }
    }

    @Test("resumes a valid session id and replaces any other; a mixer has none")
    func sessions() async throws {
        try await withFixture { (fixture: RTMPFixture) async throws -> Void in
            fixture.feeds.open("r").receive(Packets.key(0))
            for (name, eventLog) in [("r?sid=r-42", ["opened r-42"]), ("r?sid=forged", ["opened r-42", "opened r-1"])] {
                let player = fixture.play(name)
                #expect(try await eventually { player.got.count == 1 })
                #expect(fixture.audience.eventLog == eventLog)
            }
            // Nor is a mixer closed as early as a viewer.
            #expect(RTMPViewer(feed: fixture.feeds.open("r"), session: nil).sentBytes == nil)
            let mixer = fixture.play("r?mixer=1")
            #expect(try await eventually { mixer.got.count == 1 })
            #expect(fixture.audience.eventLog.count == 2)
            #expect(fixture.feeds.feed("r")?.activity.viewers == 3)
        }
    }

    @Test("reads client name, address, device and token; a monitor plays uncounted")
    func identity() async throws {
        try await withFixture { (fixture: RTMPFixture) async throws -> Void in
            fixture.feeds.open("r").receive(Packets.key(0))
            for (name, eventLog) in [
                ("r?did=0123456789abcdef&identity=ann", ["opened r-1"]),
                ("r?monitor=1&identity=eye", ["opened r-1", "opened no-r-2"]),
            ] {
                let player = fixture.play(name)
                #expect(try await eventually { player.got.count == 1 })
                #expect(fixture.audience.eventLog == eventLog)
            }
            let requests = fixture.audience.requests
            #expect(requests.map(\.userAgent) == ["LNX 9,0,124,2", "LNX 9,0,124,2"])
            #expect(requests.map(\.address) == ["127.0.0.1", "127.0.0.1"])
            #expect(requests.map(\.device) == ["0123456789abcdef", nil])
            #expect(requests.map(\.identity) == ["ann", "eye"] && requests.map(\.role) == [.viewer, .monitor])
        }
    }

    @Test("records the rendition that a player plays")
    func rendition() async throws {
        try await withFixture { (fixture: RTMPFixture) async throws -> Void in
            let ladder = fixture.feeds.open("r", with: RenditionLadder(hasAudioOnly: true))
            ladder.program.receive(Packets.key(0))
            for rendition in ladder.renditions { rendition.feed.receive(Packets.key(0)) }
            let name = try #require(ladder.renditions.first?.name)
            let player = fixture.play("r_\(name)")
            #expect(try await eventually { player.got.count == 1 })
            #expect(fixture.audience.events.map(\.rendition) == [name] && fixture.audience.events.map(\.room) == ["r"])
        }
    }

    @Test("a full gateway refuses players and counts no viewer")
    func full() async throws {
        try await withFixture(maximumViewers: 1) { (fixture: RTMPFixture) async throws -> Void in
            fixture.feeds.open("r").receive(Packets.key(0))
            let first = fixture.play("r")
            #expect(try await eventually { first.got.count == 1 })
            let second = fixture.play("r")
            #expect(try await eventually { !second.end.isEmpty })
            #expect(second.end.first?.contains("NetStream.Play.Failed") == true)
            #expect(fixture.audience.eventLog == ["opened r-1"])
        }
    }

    @Test("while memory is short, refuses and counts new players; present ones continue")
    func held() async throws {
        try await withFixture { (fixture: RTMPFixture) async throws -> Void in
            let feed = fixture.feeds.open("r")
            feed.receive(Packets.key(0))
            let early = fixture.play("r")
            #expect(try await eventually { early.got.count == 1 })
            fixture.feeds.setAdmissionSuspended(true)
            let refused = fixture.play("r")
            #expect(try await eventually { !refused.end.isEmpty })
            #expect(refused.end.first?.contains("NetStream.Play.Failed") == true)
            #expect(refused.got.isEmpty)
            feed.receive(Packets.frame(40))
            #expect(try await eventually { early.got.count == 2 })
            #expect(fixture.feeds.load.refused == [.rtmp: 1, .flv: 0, .hls: 0])
            #expect(fixture.feeds.load.isAdmissionSuspended)
            fixture.feeds.setAdmissionSuspended(false)
            let late = fixture.play("r")
            #expect(try await eventually { late.got.count == 2 })
            #expect(fixture.audience.eventLog == ["opened r-1", "opened r-2"])
        }
    }

    @Test("a full gateway admits a returning session id, and treats a foreign one as a new viewer")
    func returns() async throws {
        try await withFixture(maximumViewers: 1) { (fixture: RTMPFixture) async throws -> Void in
            fixture.feeds.open("r").receive(Packets.key(0))
            let first = fixture.play("r")
            #expect(try await eventually { first.got.count == 1 })
            fixture.feeds.setAdmissionSuspended(true)
            let back = fixture.play("r?sid=r-1")
            #expect(try await eventually { back.got.count == 1 })
            // An id of another room, an unknown one, and one that is connected again already.
            for (number, foreign) in ["other-1", "r-7", "r-1"].enumerated() {
                let outsider = fixture.play("r?sid=\(foreign)")
                #expect(try await eventually { !outsider.end.isEmpty })
                #expect(outsider.end.first?.contains("NetStream.Play.Failed") == true)
                #expect(fixture.feeds.load.refused[.rtmp] == UInt64(number) + 1)
            }
            #expect(fixture.audience.eventLog == ["opened r-1", "opened r-1"])
        }
    }

    @Test("notifies and closes every player once when the room ends")
    func roomEnds() async throws {
        try await withFixture { (fixture: RTMPFixture) async throws -> Void in
            fixture.feeds.open("r").receive(Packets.key(0))
            let players = (0..<4).map { _ in fixture.play("r") }
            #expect(try await eventually { players.allSatisfy { $0.got.count == 1 } })
            fixture.feeds.close("r", reason: .roomEnded)
            #expect(try await eventually { players.allSatisfy { $0.end.count == 1 } })
            #expect(players.allSatisfy { $0.end.first?.contains("UnpublishNotify") == true })
            #expect(fixture.audience.eventLog.filter { $0.hasPrefix("closed(roomEnded)") }.count == 4)
            #expect(fixture.audience.eventLog.count == 8)
        }
    }
}
