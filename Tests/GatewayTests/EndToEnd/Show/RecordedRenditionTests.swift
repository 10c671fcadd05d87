import FootlightTesting
import Foundation
import Media
import TestSupport
import Testing

@Suite("Recording and renditions", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(1)))
struct RecordedRenditionTests {
    @Test("snapshot, renditions by RTMP and HLS with one viewer count, and a recording that survives kill -9")
    func show() async throws {
        let stage = try await RoomFixture(room: "kept")
        let gateway = stage.gateway
        try await stage.expect(200, "POST", "/v1/rooms/kept", ["status": "completed"])
        try await stage.expect(
            201,
            "POST",
            "/v1/rooms",
            [
                "unique_name": "kept", "recording": true,
                "program": [
                    "width": 640, "height": 360, "preset": "ultrafast", "video_bitrate": 800, "audio_only": true,
                    "renditions": [["name": "180p", "width": 320, "height": 180, "video_bitrate": 300]],
                ],
            ]
        )
        #expect(try await gateway.api("GET", stage.path("snapshot.jpg"), token: "").status == 404)
        let ada = try await stage.join("ada")
        let host = try stage.publish(try await stage.clip(HostScript(.red, tone: 440)), as: ada)
        try await stage.waitUntilOnAir()

        // A JPEG snapshot needs no token, a PNG does.
        let snapshot = stage.folder.file("snapshot.jpg")
        let address = "http://127.0.0.1:\(gateway.endpoints.httpPort)/v1/rooms/kept/snapshot.jpg?width=300"
        let isShown = try await eventually(every: .milliseconds(200)) {
            _ = try await ChildProcess.run(["curl", "-s", "-o", snapshot, address])
            guard let image = try? await Recording(path: snapshot).frame(at: 0) else { return false }
            let colour = image.averageColour(x: 40, y: 20, width: 200, height: 60)
            return image.width == 320 && colour.red > 150 && colour.green < 90
        }
        #expect(isShown)
        let png = "/v1/rooms/kept/snapshot.png?width=300"
        #expect(try await gateway.api("GET", png, token: "").status == 401)
        let head = try await gateway.api("HEAD", png)
        #expect(head.status == 200 && head.headers["content-type"] == "image/png" && head.headers["etag"] != nil)
        #expect(head.headers["content-length"].flatMap { Int($0) } ?? 0 > 1000)

        // The renditions, played without a token.
        let hls = stage.folder.file("hls.mkv")
        let small = stage.folder.file("small.flv")
        let players = [
            try FFmpeg.record(gateway.rtmpURL(room: "kept_180p"), seconds: 4, to: small),
            try FFmpeg.record(gateway.hlsURL(room: "kept"), seconds: 4, to: hls),
        ]
        let listeners = [
            try FFmpeg.record(gateway.rtmpURL(room: "kept_audio"), seconds: 4, to: stage.folder.file("audio.mkv")),
            try FFmpeg.record(gateway.flvURL(room: "kept_audio"), seconds: 4, to: stage.folder.file("audio2.mkv")),
        ]
        let rendition = try await players[0].finish()
        #expect(rendition.video?.width == 320)
        #expect(try await rendition.decodedAudio().toneLevel(frequency: 440, from: 1, to: 3) > -40)
        let shown = try #require(try await rendition.frames(at: [2]).first)
        #expect(shown.averageColour(x: 40, y: 20, width: 200, height: 60).red > 150)
        // The audio-only rendition by RTMP and HTTP-FLV.
        for listener in listeners {
            let received = try await listener.finish()
            #expect(received.video == nil && received.audio?.codec == "aac", "\(received.streams)")
            #expect(received.duration(.audio) > 3 && received.backwardSteps == 0 && received.largestGap(.audio) < 0.03)
            #expect(try await received.decodedAudio().toneLevel(frequency: 440, from: 1, to: 3) > -40)
        }
        let played = try await players[1].finish()
        #expect(played.duration(.video) > 2)
        let master = try await gateway.request("GET", port: gateway.endpoints.httpPort, "/live/kept/index.m3u8").text
        #expect(master.contains("RESOLUTION=640x360") && master.contains("RESOLUTION=320x180"))
        let variants = master.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(variants.count == 3 && Set(variants.map { $0.prefix { $0 != "/" } }).count == 1)

        // An output pushes its rendition.
        let target = try await NginxRTMP()
        let output: JSONValue = [
            "name": "small", "url": .string(target.url), "stream_key": "secret", "rendition": "180p",
        ]
        try await stage.expect(202, "POST", stage.path("livestream/start"), ["outputs": [output]])
        let isPushed = try await eventually(every: .milliseconds(200)) {
            guard let path = try target.recordings.first else { return false }
            return try await Recording(path: path).video?.width == 320
        }
        #expect(isPushed)

        // The recording survives a kill of the process.
        let run = try await stage.expect(200, "GET", stage.path("recording"))
        #expect(run["state"].string == "RECORDING_STARTED")
        try await gateway.kill9()
        host.end()
        let names = try FileManager.default.subpathsOfDirectory(atPath: gateway.dataFolder + "/recordings")
        let name = try #require(names.first { $0.hasSuffix(".mp4") })
        let path = "\(gateway.dataFolder)/recordings/\(name)"
        let recording = try await Recording(path: path)
        #expect(recording.duration(.video) > 3 && recording.backwardSteps == 0)
        for group in recording.completeGOPs { #expect(abs(group.seconds - 2) < 0.01) }
        try await gateway.start()
        let files = try await stage.expect(200, "GET", stage.path("recordings"))["recordings"].elements
        let file = try #require(files.first { $0["state"].string == "interrupted" })
        let sid = try #require(file["sid"].string)
        #expect(abs((file["duration"].double ?? 0) - recording.duration(.video)) < 0.2)

        // The recording is downloaded, partly and completely, and deleted.
        let port = gateway.endpoints.httpPort
        let media = "/v1/recordings/\(sid)/media.mp4"
        let token = try "Authorization: Bearer \(gateway.operatorToken)"
        let copy = stage.folder.file("copy.mp4")
        _ = try await ChildProcess.run(["curl", "-sSf", "-H", token, "-o", copy, "http://127.0.0.1:\(port)\(media)"])
        #expect(FileManager.default.contentsEqual(atPath: copy, andPath: path))
        let part = stage.folder.file("part.mp4")
        let range = ["curl", "-sSf", "-H", token, "-r", "100-299", "-o", part, "http://127.0.0.1:\(port)\(media)"]
        _ = try await ChildProcess.run(range)
        let whole = try #require(FileManager.default.contents(atPath: path))
        #expect(FileManager.default.contents(atPath: part) == whole[100..<300])
        let answer = try await gateway.api("HEAD", media)
        #expect(answer.status == 200 && answer.headers["content-type"] == "video/mp4")
        #expect(answer.headers["content-length"] == "\(whole.count)" && answer.headers["accept-ranges"] == "bytes")
        #expect(try await gateway.api("GET", media, token: "").status == 401)
        try await stage.expect(204, "DELETE", "/v1/recordings/\(sid)")
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try await gateway.api("GET", "/v1/recordings/\(sid)").status == 404)
    }
}
