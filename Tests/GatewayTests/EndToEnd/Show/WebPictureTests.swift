import FootlightTesting
import Foundation
import Testing

@Suite("Pictures from the web", .serialized, .timeLimit(.minutes(1)))
struct WebPictureTests {
    /// The bytes of a picture of one colour.
    private func picture(_ colour: String, in folder: TemporaryFolder) async throws -> [UInt8] {
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

    @Test("The picture that an operator's URL leads to is shown, even from this machine where that is allowed")
    func logo() async throws {
        let stage = try await FaultStage(room: "faces")
        let lime = try await picture("lime", in: stage.folder)
        let server = try await SmallWebServer(["/wall": .redirect("/wall.png"), "/wall.png": .file(lime)])
        let layout: JSONValue = ["logo": ["image": .string(server.url("/wall")), "height": 0.5]]
        try await stage.expect(200, "PUT", stage.path("layout"), layout)
        let ada = try await stage.join("ada")
        let host = try stage.publish(try await stage.clip(HostScript(picture: nil, sound: .tone(440))), as: ada)
        try await stage.waitUntilOnAir()
        let address = "http://127.0.0.1:\(stage.gateway.endpoints.httpPort)/v1/rooms/faces/snapshot.png?width=320"
        let snapshot = stage.folder.file("snapshot.png")
        let bearer = "Authorization: Bearer " + (try stage.gateway.operatorToken)
        let isShown = try await eventually(every: .milliseconds(200)) {
            _ = try await ChildProcess.run(["curl", "-s", "-H", bearer, "-o", snapshot, address])
            guard let image = try? await Recording(path: snapshot).picture(at: 0), image.width == 320 else {
                return false
            }
            // In the upper right corner.
            let colour = image.averageColour(x: 250, y: 30, width: 20, height: 20)
            return colour.distance(to: Colour(red: 0, green: 255, blue: 0)) < 60
        }
        #expect(isShown && host.isRunning)
        #expect(server.asked == ["/wall", "/wall.png"])
    }

    @Test("An avatar never leads to this machine, whoever named it and whatever the settings allow")
    func avatar() async throws {
        let stage = try await FaultStage(room: "probes")
        let server = try await SmallWebServer(["/face.png": .file(try await picture("lime", in: stage.folder))])
        let ada = try await stage.join("ada")
        try await stage.expect(
            200,
            "PATCH",
            stage.path("participants/ada"),
            ["avatar": .string(server.url("/face.png"))]
        )
        let host = try stage.publish(try await stage.clip(HostScript(picture: nil, sound: .tone(440))), as: ada)
        try await stage.waitUntilOnAir()
        let isTold = try await eventually { stage.gateway.log.contains("could not fetch an asset") }
        #expect(isTold && host.isRunning)
        #expect(server.asked.isEmpty)
    }
}
