import FootlightTesting
import Foundation
import Stage
import TestSupport
import Testing

@Suite("Overlays of a running program", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(1)))
struct ProgramOverlayTests {
    private static let teal = Colour(red: 32, green: 160, blue: 160)
    private static let lime = Colour(red: 0, green: 255, blue: 0)
    private static let yellow = Colour(red: 255, green: 255, blue: 0)
    /// Areas on the canvas of 1280x720 with two hosts: the gap between the tiles.
    private static let gap = TileRectangle(x: 638, y: 100, width: 4, height: 400)
    /// Areas within a logo of a fifth of the height, in each upper corner.
    private static let upperLeft = TileRectangle(x: 54, y: 54, width: 96, height: 96)
    private static let upperRight = TileRectangle(x: 1130, y: 54, width: 96, height: 96)
    /// The area of the lower third above a ticker, on the left tile.
    private static let panel = TileRectangle(x: 80, y: 540, width: 240, height: 80)
    /// The areas of the ticker on each tile.
    private static let leftBand = TileRectangle(x: 20, y: 682, width: 590, height: 34)
    private static let rightBand = TileRectangle(x: 660, y: 682, width: 590, height: 34)
    /// The area of the disc on the right host's card.
    private static let disc = TileRectangle(x: 922, y: 270, width: 80, height: 80)

    @Test("logo, lower third, ticker, background and avatar appear, change and disappear by API")
    func decoration() async throws {
        let stage = try await RoomFixture(room: "dressed")
        let (red, blue) = (try await stage.join("red"), try await stage.join("blue"))
        var hosts: [ChildProcess] = []
        for (participant, colour) in [(red, Colour.red), (blue, .blue)] {
            var video = HostVideoScript(colour)
            video.hasMarker = false
            let clip = try await stage.clip(HostScript(video: video, audio: nil), seconds: 4)
            hosts.append(try stage.publish(clip, as: participant))
        }
        for (name, colour) in [("logo", "lime"), ("other", "yellow"), ("face", "yellow")] {
            try await stage.storeAsset(name, colour)
        }
        let plain = try await frame(of: stage) { frame in
            seen(Self.panel, in: frame).distance(to: .red) < 30
                && seen(Self.disc, in: frame).distance(to: .blue) < 30
        }
        #expect(seen(Self.panel, in: plain).distance(to: .red) < 30, "both hosts are on air")
        #expect(seen(Self.disc, in: plain).distance(to: .blue) < 30, "both hosts are on air")
        #expect(seen(Self.gap, in: plain).distance(to: .background) < 20)

        try await stage.expect(200, "PATCH", stage.path("participants/blue"), ["avatar": "asset:face"])
        try await stage.expect(200, "PATCH", stage.path("participants/blue/tracks/camera"), ["enabled": false])
        try await stage.expect(
            200,
            "PUT",
            stage.path("layout"),
            [
                "background": ["colour": "#20a0a0"],
                "logo": ["image": "asset:logo", "position": "top_right", "height": 0.2],
                "lower_third": ["title": "Ada Lovelace", "subtitle": "London"],
                "ticker": ["text": "What is new is said down here, round and round"],
            ]
        )
        let dressed = try await frame(of: stage) { frame in
            seen(Self.upperRight, in: frame).distance(to: Self.lime) < 40
                && seen(Self.disc, in: frame).distance(to: Self.yellow) < 40
                && seen(Self.leftBand, in: frame).distance(to: .red) > 60
        }
        #expect(seen(Self.upperRight, in: dressed).distance(to: Self.lime) < 40)
        #expect(seen(Self.disc, in: dressed).distance(to: Self.yellow) < 40)
        #expect(seen(Self.gap, in: dressed).distance(to: Self.teal) < 30)
        #expect(seen(Self.panel, in: dressed).distance(to: .red) > 60)
        #expect(isLettered(Self.panel, in: dressed))
        // The ticker has the background's colour with text on it.
        for band in [Self.leftBand, Self.rightBand] {
            #expect(seen(band, in: dressed).distance(to: Self.teal) < 90, "\(seen(band, in: dressed))")
        }
        #expect(isLettered(Self.leftBand, in: dressed) || isLettered(Self.rightBand, in: dressed))
        #expect(seen(Self.upperLeft, in: dressed).distance(to: .red) < 30)

        try await stage.expect(200, "PATCH", stage.path("participants/blue"), ["avatar": .null])
        try await stage.expect(
            200,
            "PUT",
            stage.path("layout"),
            [
                "background": ["colour": "#a02020"],
                "logo": ["image": "asset:other", "position": "top_left", "height": 0.2],
                "lower_third": .null, "ticker": .null,
            ]
        )
        let changed = try await frame(of: stage) { frame in
            seen(Self.upperLeft, in: frame).distance(to: Self.yellow) < 40
                && seen(Self.disc, in: frame).distance(to: Self.yellow) > 60
        }
        #expect(seen(Self.upperLeft, in: changed).distance(to: Self.yellow) < 40)
        #expect(seen(Self.upperRight, in: changed).distance(to: .emptyTile) < 30)
        #expect(seen(Self.disc, in: changed).distance(to: Self.yellow) > 60)
        #expect(seen(Self.gap, in: changed).distance(to: Colour(red: 160, green: 32, blue: 32)) < 30)
        #expect(seen(Self.panel, in: changed).distance(to: .red) < 30)
        #expect(seen(Self.leftBand, in: changed).distance(to: .red) < 30)
        #expect(!isLettered(Self.panel, in: changed))
        let isPublishing = hosts.allSatisfy(\.isRunning)
        #expect(isPublishing)
    }

    /// Waits for a snapshot with a property; returns it, or the latest.
    private func frame(
        of stage: RoomFixture,
        until isReached: (RGBFrame) -> Bool
    ) async throws -> RGBFrame {
        let file = stage.folder.file("snapshot.png")
        let address = "http://127.0.0.1:\(stage.gateway.endpoints.httpPort)" + stage.path("snapshot.png")
        let bearer = "Authorization: Bearer " + (try stage.gateway.operatorToken)
        var newest: RGBFrame?
        _ = try await eventually(every: .milliseconds(200)) {
            guard (try? await ChildProcess.run(["curl", "-sf", "-H", bearer, "-o", file, address])) != nil,
                let frame = try? await Recording(path: file).frame(at: 0)
            else { return false }
            newest = frame
            return isReached(frame)
        }
        return try #require(newest)
    }

    private func seen(_ place: TileRectangle, in frame: RGBFrame) -> Colour {
        frame.averageColour(x: place.x, y: place.y, width: place.width, height: place.height)
    }

    /// Returns whether the area contains text.
    private func isLettered(_ place: TileRectangle, in frame: RGBFrame) -> Bool {
        (place.y..<place.y + place.height).contains { y in
            (place.x..<place.x + place.width).contains { x in frame.colour(x: x, y: y).distance(to: .white) < 50 }
        }
    }
}

@Suite("Assets from URLs", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(1)))
struct RemoteAssetTests {
    /// Returns an image of one colour.
    private func image(_ colour: String, in folder: TemporaryFolder) async throws -> [UInt8] {
        let file = folder.file("\(colour).png")
        try await ChildProcess.run(
            [
                "ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "color=\(colour):s=64x64",
                "-frames:v", "1", file,
            ],
            within: .seconds(10)
        )
        return Array(try #require(FileManager.default.contents(atPath: file)))
    }

    @Test("shows an operator's image URL, also of this machine if allowed")
    func logo() async throws {
        let stage = try await RoomFixture(room: "faces")
        let lime = try await image("lime", in: stage.folder)
        let server = try await TestWebServer(["/wall": .redirect("/wall.png"), "/wall.png": .file(lime)])
        let layout: JSONValue = ["logo": ["image": .string(server.url("/wall")), "height": 0.5]]
        try await stage.expect(200, "PUT", stage.path("layout"), layout)
        let ada = try await stage.join("ada")
        let host = try stage.publish(try await stage.clip(HostScript(video: nil, audio: .tone(440))), as: ada)
        try await stage.waitUntilOnAir()
        let address = "http://127.0.0.1:\(stage.gateway.endpoints.httpPort)/v1/rooms/faces/snapshot.png?width=320"
        let snapshot = stage.folder.file("snapshot.png")
        let bearer = "Authorization: Bearer " + (try stage.gateway.operatorToken)
        let isShown = try await eventually(every: .milliseconds(200)) {
            _ = try await ChildProcess.run(["curl", "-s", "-H", bearer, "-o", snapshot, address])
            guard let image = try? await Recording(path: snapshot).frame(at: 0), image.width == 320 else {
                return false
            }
            // The logo is in the upper right corner.
            let colour = image.averageColour(x: 250, y: 30, width: 20, height: 20)
            return colour.distance(to: Colour(red: 0, green: 255, blue: 0)) < 60
        }
        #expect(isShown && host.isRunning)
        #expect(server.requestedPaths == ["/wall", "/wall.png"])
    }

    @Test("never fetches an avatar from this machine")
    func avatar() async throws {
        let stage = try await RoomFixture(room: "probes")
        let server = try await TestWebServer(["/face.png": .file(try await image("lime", in: stage.folder))])
        let ada = try await stage.join("ada")
        try await stage.expect(
            200,
            "PATCH",
            stage.path("participants/ada"),
            ["avatar": .string(server.url("/face.png"))]
        )
        let host = try stage.publish(try await stage.clip(HostScript(video: nil, audio: .tone(440))), as: ada)
        try await stage.waitUntilOnAir()
        let isReported = try await eventually { stage.gateway.log.contains("could not fetch an asset") }
        #expect(isReported && host.isRunning)
        #expect(server.requestedPaths.isEmpty)
    }
}
