import FootlightTesting
import Foundation
import Media
import NIOCore
import Testing

@Suite("A machine whose processors have no time left", .serialized, .timeLimit(.minutes(1)))
struct FullMachineTests {
    @Test("A host of a second room is told to come later (53006), by API and by RTMP, and the show on air goes on")
    func full() async throws {
        // What the first host is expected to take fits in, and not as much again.
        let ceiling = max((45 / Double(System.coreCount)).rounded(.up), 1)
        let stage = try await FaultStage(
            room: "show",
            environment: ["FOOTLIGHT_LIMITS_CPU_CEILING": "\(Int(ceiling))"]
        )
        let gateway = stage.gateway
        let red = try await stage.join("red")
        let host = try stage.publish(try await stage.clip(HostScript(.red, tone: 330)), as: red)
        let viewer = try Players.flv(gateway.flvURL(room: stage.room))
        #expect(try await viewer.tail.keyPicture(after: .now(), within: .seconds(20)) != nil)
        // From now on it is what was measured that counts.
        let isMeasured = try await eventually {
            try await stage.expect(200, "GET", "/v1/rooms/show")["degradation"]["cores"].double ?? 0 > 0.1
        }
        #expect(isMeasured)
        let before = viewer.tail.all.count { $0.isPicture }
        let start = MonotonicTime.now()

        try await stage.expect(201, "POST", "/v1/rooms", ["unique_name": "second"])
        let guests = "/v1/rooms/second/participants"
        let viewerBody: JSONValue = ["identity": "ada", "mode": "RECV_ONLY"]
        let ada = try await stage.expect(201, "POST", guests, viewerBody)
        #expect(ada["ingest"] == .null, "who only watches costs nothing")
        let ben = try await gateway.api("POST", guests, ["identity": "ben", "mode": "SEND_AND_RECV"])
        let turn = try await gateway.api("POST", guests + "/ada/mode", ["mode": "SEND_AND_RECV"])
        for reply in [ben, turn] {
            #expect(reply.status == 503, "\(reply.text)")
            #expect(reply.json["error"]["code"].int == 53006, "\(reply.text)")
            #expect((reply.headers["retry-after"].flatMap { Int($0) } ?? 0) >= 5, "\(reply.headers)")
        }
        // Neither got a key, and without one nobody publishes.
        let guess = try RawPublisher.attempt(port: gateway.endpoints.rtmpPort, key: "ben")
        #expect(guess.text.contains("NetStream.Publish.") && guess.isClosed, "\(guess.text)")
        #expect(!guess.text.contains("NetStream.Publish.Start"), "\(guess.text)")
        #expect(gateway.mixers(of: "second").isEmpty)

        // The pictures have never stopped.
        let after = try await viewer.tail.keyPicture(after: .now(), within: .seconds(5))
        #expect(after != nil)
        let seconds = MonotonicTime.now().seconds(since: start)
        let shown = viewer.tail.all.count { $0.isPicture } - before
        #expect(Double(shown) > (seconds - 1) * 30 * 0.9, "\(shown) pictures in \(seconds) s")
        viewer.child.end()
        host.end()
    }
}
