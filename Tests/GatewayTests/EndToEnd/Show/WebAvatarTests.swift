import FootlightTesting
import Foundation
import Testing

@Suite("Pictures from the web", .serialized, .timeLimit(.minutes(1)))
struct WebAvatarTests {
    @Test("The card of a host without a camera shows the avatar that its URL leads to, and not initials")
    func avatar() async throws {
        let stage = try await FaultStage(room: "faces")
        let file = stage.folder.file("face.png")
        try await ChildProcess.run(
            [
                "ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "color=lime:s=64x64",
                "-frames:v", "1", file,
            ],
            within: .seconds(10)
        )
        let face = try #require(FileManager.default.contents(atPath: file))
        let server = try await SmallWebServer(["/ada": .redirect("/face.png"), "/face.png": .file(Array(face))])
        let ada = try await stage.join("ada")
        try await stage.expect(
            200,
            "PATCH",
            stage.path("participants/ada"),
            ["avatar": .string(server.url("/ada"))]
        )
        let host = try stage.publish(try await stage.clip(HostScript(picture: nil, sound: .tone(440))), as: ada)
        try await stage.waitUntilOnAir()
        let address = "http://127.0.0.1:\(stage.gateway.endpoints.httpPort)/v1/rooms/faces/snapshot.png?width=320"
        let picture = stage.folder.file("snapshot.png")
        let isShown = try await eventually(every: .milliseconds(200)) {
            _ = try await ChildProcess.run(["curl", "-s", "-o", picture, address])
            guard let image = try? await Recording(path: picture).picture(at: 0), image.width == 320 else {
                return false
            }
            // The middle of the disc.
            let colour = image.averageColour(x: 145, y: 62, width: 30, height: 28)
            return colour.distance(to: Colour(red: 0, green: 255, blue: 0)) < 60
        }
        #expect(isShown && host.isRunning)
        #expect(server.asked == ["/ada", "/face.png"])
    }
}
