import FootlightTesting
import Foundation
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Processor admission control", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(1)))
struct CPUAdmissionTests {
    @Test("refuses a second room's host with 53006 by API and RTMP at the CPU ceiling, and keeps the room on air")
    func full() async throws {
        // The ceiling admits the estimated load of one host, but not of two.
        let ceiling = max((45 / Double(System.coreCount)).rounded(.up), 1)
        let stage = try await RoomFixture(
            room: "show",
            environment: ["FOOTLIGHT_LIMITS_CPU_CEILING": "\(Int(ceiling))"]
        )
        let gateway = stage.gateway
        let red = try await stage.join("red")
        let host = try stage.publish(try await noise(in: stage), as: red)
        let viewer = try Players.flv(gateway.flvURL(room: stage.room))
        #expect(try await viewer.tail.keyframe(after: .now(), within: .seconds(20)) != nil)
        // From now on the measured load counts.
        let isMeasured = try await eventually(within: .seconds(10)) {
            let show = try await stage.expect(200, "GET", "/v1/rooms/show")
            return show["degradation"]["cores"].double ?? 0 > 0.05
        }
        #expect(isMeasured)
        let before = viewer.tail.all.count { $0.isVideo }
        let start = MonotonicTime.now()

        // Even with the smallest correction of the estimate, this exceeds the remaining budget.
        let large: JSONValue = ["width": 1920, "height": 1080, "fps": 60]
        try await stage.expect(201, "POST", "/v1/rooms", ["unique_name": "second", "program": large])
        let guests = "/v1/rooms/second/participants"
        let viewerBody: JSONValue = ["identity": "ada", "mode": "RECV_ONLY"]
        let ada = try await stage.expect(201, "POST", guests, viewerBody)
        #expect(ada["ingest"] == .null, "who only watches costs nothing")
        let reply = try await gateway.api("POST", guests, ["identity": "ben", "mode": "SEND_AND_RECV"])
        #expect(reply.status == 503, "\(reply.text)")
        #expect(reply.json["error"]["code"].int == 53006, "\(reply.text)")
        #expect(reply.json["error"]["retryable"].bool == true, "\(reply.text)")
        #expect(reply.headers["retry-after"] == "10", "\(reply.headers)")
        // Without a stream key a publish is refused.
        let guess = try RawPublisher.attempt(port: gateway.endpoints.rtmpPort, key: "ben")
        #expect(guess.text.contains("NetStream.Publish.") && guess.isClosed, "\(guess.text)")
        #expect(!guess.text.contains("NetStream.Publish.Start"), "\(guess.text)")
        // A program without hosts is refused, too.
        for path in ["recording/start", "hls/start"] {
            let reply = try await gateway.api("POST", "/v1/rooms/second/\(path)")
            #expect(reply.status == 503 && reply.json["error"]["code"].int == 53006, "\(path): \(reply.text)")
            #expect(reply.headers["retry-after"] == "10", "\(reply.headers)")
        }
        #expect(gateway.mixers(of: "second").isEmpty)

        // The program has continued without interruption.
        let after = try await viewer.tail.keyframe(after: .now(), within: .seconds(5))
        #expect(after != nil)
        let seconds = MonotonicTime.now().seconds(since: start)
        let shown = viewer.tail.all.count { $0.isVideo } - before
        #expect(Double(shown) > (seconds - 1) * 30 * 0.9, "\(shown) frames in \(seconds) s")
        viewer.child.end()
        host.end()
    }

    /// Encodes noisy video, which is expensive for its size.
    private func noise(in stage: RoomFixture) async throws -> String {
        let path = stage.folder.file("noise.flv")
        try await ChildProcess.run(
            [
                "ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i",
                "testsrc2=size=1280x720:rate=30,noise=alls=40:allf=t", "-t", "2", "-c:v", "libx264", "-preset",
                "ultrafast", "-tune", "zerolatency", "-g", "60", "-b:v", "6000k", "-pix_fmt", "yuv420p", path,
            ],
            within: .seconds(60)
        )
        return path
    }
}
