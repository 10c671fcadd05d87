import FootlightTesting
import Foundation
import Stage
import Testing

@Suite("What is laid over a running show", .serialized, .timeLimit(.minutes(1)))
struct DecoratedShowTests {
    private static let teal = Colour(red: 32, green: 160, blue: 160)
    private static let lime = Colour(red: 0, green: 255, blue: 0)
    private static let yellow = Colour(red: 255, green: 255, blue: 0)
    /// Places on the program's canvas of 1280x720 with two hosts: what lies between their tiles.
    private static let gap = TileRectangle(x: 638, y: 100, width: 4, height: 400)
    /// Within a logo of a fifth of the height, in each of the upper corners.
    private static let upperLeft = TileRectangle(x: 54, y: 54, width: 96, height: 96)
    private static let upperRight = TileRectangle(x: 1130, y: 54, width: 96, height: 96)
    /// Within the panel of the lower third where it stands over a ticker, on the left host's tile.
    private static let panel = TileRectangle(x: 80, y: 540, width: 240, height: 80)
    /// Within the ticker's band, where it runs over each of the tiles.
    private static let leftBand = TileRectangle(x: 20, y: 682, width: 590, height: 34)
    private static let rightBand = TileRectangle(x: 660, y: 682, width: 590, height: 34)
    /// Within the disc on the right host's card.
    private static let disc = TileRectangle(x: 922, y: 270, width: 80, height: 80)

    @Test("Logo, lower third, ticker, background and avatar get from the API to their places, change live, and go")
    func decoration() async throws {
        let stage = try await FaultStage(room: "dressed")
        let (red, blue) = (try await stage.join("red"), try await stage.join("blue"))
        var hosts: [ChildProcess] = []
        for (seat, colour) in [(red, Colour.red), (blue, .blue)] {
            var picture = HostPicture(colour)
            picture.hasMarker = false
            let clip = try await stage.clip(HostScript(picture: picture, sound: nil), seconds: 4)
            hosts.append(try stage.publish(clip, as: seat))
        }
        for (name, colour) in [("logo", "lime"), ("other", "yellow"), ("face", "yellow")] {
            try await stage.storeAsset(name, colour)
        }
        let plain = try await picture(of: stage) { picture in
            seen(Self.panel, in: picture).distance(to: .red) < 30
                && seen(Self.disc, in: picture).distance(to: .blue) < 30
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
        let dressed = try await picture(of: stage) { picture in
            seen(Self.upperRight, in: picture).distance(to: Self.lime) < 40
                && seen(Self.disc, in: picture).distance(to: Self.yellow) < 40
                && seen(Self.leftBand, in: picture).distance(to: .red) > 60
        }
        #expect(seen(Self.upperRight, in: dressed).distance(to: Self.lime) < 40)
        #expect(seen(Self.disc, in: dressed).distance(to: Self.yellow) < 40)
        #expect(seen(Self.gap, in: dressed).distance(to: Self.teal) < 30)
        #expect(seen(Self.panel, in: dressed).distance(to: .red) > 60)
        #expect(isLettered(Self.panel, in: dressed))
        // The band has the background's colour, and letters on it.
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
        let changed = try await picture(of: stage) { picture in
            seen(Self.upperLeft, in: picture).distance(to: Self.yellow) < 40
                && seen(Self.disc, in: picture).distance(to: Self.yellow) > 60
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

    /// The first picture of the program that is as it is waited for, or else the last that was looked at.
    private func picture(
        of stage: FaultStage,
        until isReached: (PictureFrame) -> Bool
    ) async throws -> PictureFrame {
        let file = stage.folder.file("snapshot.png")
        let address = "http://127.0.0.1:\(stage.gateway.endpoints.httpPort)" + stage.path("snapshot.png")
        let bearer = "Authorization: Bearer " + (try stage.gateway.operatorToken)
        var newest: PictureFrame?
        _ = try await eventually(every: .milliseconds(200)) {
            guard (try? await ChildProcess.run(["curl", "-sf", "-H", bearer, "-o", file, address])) != nil,
                let picture = try? await Recording(path: file).picture(at: 0)
            else { return false }
            newest = picture
            return isReached(picture)
        }
        return try #require(newest)
    }

    private func seen(_ place: TileRectangle, in picture: PictureFrame) -> Colour {
        picture.averageColour(x: place.x, y: place.y, width: place.width, height: place.height)
    }

    /// Whether there is something nearly white.
    private func isLettered(_ place: TileRectangle, in picture: PictureFrame) -> Bool {
        (place.y..<place.y + place.height).contains { y in
            (place.x..<place.x + place.width).contains { x in picture.colour(x: x, y: y).distance(to: .white) < 50 }
        }
    }
}
