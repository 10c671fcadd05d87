import FootlightClient
import FootlightTesting
import Foundation
import FootlightModel
import Stage
import TestSupport
import Testing

@MainActor
@Suite("The examples of the articles", .timeLimit(.minutes(1)))
struct ArticleTests {
    private nonisolated static let names = ["Daily", "Stream", "Twilio", "VideoSDK"]
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let catalogue = folder.deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources/FootlightClient/FootlightClient.docc")

    private func text(_ url: URL) throws -> String { try String(contentsOf: url, encoding: .utf8) }

    @Test("The example of an article equals the compiled file", arguments: names)
    func examples(name: String) throws {
        let source = try text(Self.folder.appendingPathComponent("\(name)Example.swift"))
        let example = try #require(
            source.split(separator: "// article: begin\n").last?.components(separatedBy: "// article: end").first
        )
        let article = try text(Self.catalogue.appendingPathComponent("ComingFrom\(name).md"))
        let blocks = article.components(separatedBy: "```swift\n").dropFirst()
        let shown = try #require(blocks.last?.components(separatedBy: "```").first)
        #expect(blocks.count == 1 && shown == example)
        #expect(
            try text(Self.catalogue.appendingPathComponent("FootlightClient.md")).contains("<doc:ComingFrom\(name)>")
        )
    }

    @Test("The app of an article equals the compiled file", arguments: ["HostApp", "AudienceApp"])
    func apps(name: String) throws {
        let source = try text(Self.folder.appendingPathComponent("\(name)Example.swift"))
        let example = try #require(
            source.split(separator: "// article: begin\n").last?.components(separatedBy: "// article: end").first
        )
        let article = try text(Self.catalogue.appendingPathComponent("\(name).md"))
        #expect(article.contains("```swift\n\(example)```"))
        #expect(example.split(separator: "\n", omittingEmptySubsequences: false).count < 150)
        #expect(try text(Self.catalogue.appendingPathComponent("FootlightClient.md")).contains("<doc:\(name)>"))
    }

    @Test("The host app and the audience app share a show on a real gateway, and both end with it")
    func hostAndAudience() async throws {
        let fixture = try await GatewayFixture()
        let gateway = try GatewayFixture.address(fixture.proxy.port)
        let (annToken, bobToken) = (
            try await fixture.token("ann", .sendAndReceive), try await fixture.token("bob", .receiveOnly)
        )
        let (hostLines, audienceLines) = (TextLog(), TextLog())
        let host = HostApp(gateway: gateway, identity: "ann", token: { annToken }, line: { hostLines.append($0) })
        let audience = AudienceApp(
            gateway: gateway,
            identity: "bob",
            token: { bobToken },
            line: { audienceLines.append($0) }
        )
        let hosting = Task { await host.run(room: fixture.room, media: PatternMediaSource()) }
        #expect(try await soon { hostLines.lines.contains("Hosts: ann (mic+camera)") }, "\(hostLines.lines)")
        let watching = Task { await audience.run(show: fixture.room) }
        #expect(try await soon { audienceLines.lines.contains("bob: 👏") }, "\(audienceLines.lines)")
        #expect(audienceLines.lines.contains { $0.hasPrefix("Play http://") && $0.contains("index.m3u8") })
        #expect(try await soon { audienceLines.lines.contains("On stage: ann") }, "\(audienceLines.lines)")
        #expect(try await soon { audienceLines.lines.contains("1 watching") }, "\(audienceLines.lines)")
        try await host.setMuted(true)
        #expect(try await soon { audienceLines.lines.contains("On stage: ann (muted)") }, "\(audienceLines.lines)")
        try await fixture.operatorClient.endRoom(fixture.room)
        #expect(await watching.value == nil && audienceLines.lines.last == "The show is over")
        #expect(await hosting.value?.code == StageError.roomCompleted.code)
        #expect(hostLines.lines.contains("On stage") && hostLines.lines.last?.hasPrefix("Ended: ") == true)
    }

    /// The lines that an app showed.
    @MainActor
    private final class TextLog {
        private(set) var lines: [String] = []

        func append(_ line: String) {
            lines.append(line)
        }
    }

    @Test("All four examples join one show on a real gateway and see each other")
    func together() async throws {
        let show = try await GatewayFixture()
        let gateway = try GatewayFixture.address(show.proxy.port)
        let kit = await StarterKit.live(
            gateway: gateway,
            token: try await show.token("ann", .sendAndReceive),
            identity: "ann",
            devices: FakeCapture()
        )
        kit.join("nowhere", as: "Ann")
        #expect(kit.screen == "This is no address of a room")
        kit.join("http://127.0.0.1/\(show.room)", as: "Ann")
        #expect(kit.screen == "Waiting for others")
        let room = RoomController(
            gateway: gateway,
            token: try await show.token("carl", .sendAndReceive),
            identity: "carl"
        )
        room.connect(to: show.room)
        let view = CallView(
            gateway: gateway,
            token: try await show.token("dora", .sendAndReceive),
            identity: "dora",
            devices: FakeCapture()
        )
        #expect(view.screen == "Start a call")
        try await view.joinQuietly(show.room)
        #expect(view.screen == "Joining")
        let stream = LiveStreamScreen(
            gateway: gateway,
            token: try await show.token("bob", .receiveOnly, rights: ["streaming"]),
            identity: "bob",
            devices: FakeCapture()
        )
        stream.join(show.room, asHost: false)

        let together = try await soon {
            kit.screen.split(separator: ", ").sorted() == ["carl", "dora"]
                && view.screen.split(separator: ", ").sorted() == ["Ann", "carl"]
                && stream.screen.hasSuffix("1 watching") && stream.screen.split(separator: ", ").count == 4
                && room.log.first == "connected to \(show.room)"
        }
        #expect(together, "\(kit.screen) | \(view.screen) | \(stream.screen) | \(room.log)")
        #expect(!view.model.callSettings.audioOn)
        #expect(try await soon { stream.log.contains("joined") }, "\(stream.log)")
        await #expect(throws: StageError.self) { try await stream.switchMode() }
        await #expect(throws: StageError.self) { try await stream.goLive(url: "rtmp://", streamKey: "k") }
        let received = { (words: String) in try await soon { room.log.contains(words) } }
        #expect(try await soon { room.call.localParticipant?.track(.mic) != nil })
        try await room.setOnHold(true)
        #expect(try await received("carl's mic is off"))
        try await room.setOnHold(false)
        #expect(try await received("carl's mic is on"))
        try await room.setMicrophone(false)
        #expect(try await soon { room.call.localParticipant?.tracks.isEmpty == true })
        try await show.operatorClient.endRoom(show.room)
        #expect(try await received("ended by 53118"))
        #expect(try await soon { view.screen.hasPrefix("It ended") && kit.screen.contains(". ") })
        #expect(try await soon { stream.log.last == "ended by 53118" })
    }

    @Test("A preview of the starter kit needs no gateway")
    func preview() throws {
        let gateway = try #require(URL(string: "https://live.example"))
        let others = [CallParticipant(id: "1", username: "Bob"), CallParticipant(id: "2", username: "Eve")]
        let kit = StarterKit(FakeCallManager(callState: .joined, visible: others), gateway: gateway)
        #expect(kit.screen == "Bob, Eve")
        let lonely = StarterKit(FakeCallManager(), gateway: gateway)
        #expect(lonely.screen == "Join")
        lonely.join("live.example/show", as: "Ann")
        #expect(lonely.screen == "Waiting for others")
    }
}
