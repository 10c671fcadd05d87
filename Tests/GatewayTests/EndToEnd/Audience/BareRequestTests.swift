import FootlightTesting
import Foundation
import Media
import Testing

@Suite("Requests for a program that nobody plays", .serialized, .timeLimit(.minutes(2)))
struct BareRequestTests {
    @Test("Six times as many as there are viewers' places take none: newcomers by every protocol are let in")
    func bare() async throws {
        let stage = try await FaultStage(room: "show", environment: ["FOOTLIGHT_FANOUT_VIEWERS": "500"])
        let gateway = stage.gateway
        let clip = try await stage.clip(HostScript(.red, tone: 440))
        let host = try stage.publish(clip, as: try await stage.join("ada"))
        try await stage.waitUntilOnAir()

        let crowds = try (0..<3).map { _ in
            try ChildProcess(["curl", "-s", "-o", "/dev/null", gateway.hlsURL(room: "show") + "?n=[1-1000]"])
        }
        for crowd in crowds { _ = try await crowd.wait(.seconds(60)) }
        #expect(crowds.allSatisfy { $0.exit == .code(0) })

        let flv = try Players.flv(gateway.flvURL(room: "show"))
        #expect(try await flv.tail.keyPicture(after: .now(), within: .seconds(10)) != nil)
        let index = try await get("/live/show/index.m3u8")
        #expect(index.status == 200)
        let media = try #require(index.text.split(separator: "\n").last { !$0.hasPrefix("#") })
        #expect(try await get("/live/show/" + media).status == 200)
        let recording = stage.folder.file("rtmp.flv")
        try await ChildProcess.run(
            [
                "ffmpeg", "-nostdin", "-loglevel", "error", "-i", gateway.rtmpURL(room: "show"), "-t", "1", "-c",
                "copy", recording,
            ],
            within: .seconds(20)
        )
        flv.child.end()
        host.end()

        func get(_ path: String) async throws -> GatewayReply {
            try await gateway.request("GET", port: gateway.endpoints.httpPort, path)
        }
    }

    @Test("An address that asks too fast is told to wait, and one beside it is not")
    func limited() async throws {
        let gateway = try await GatewayProcess(environment: ["FOOTLIGHT_LIMITS_REQUESTS": "1"])
        var statuses: [Int: Int] = [:]
        let port = gateway.endpoints.httpPort
        for number in 0..<40 {
            let headers = ["X-Forwarded-For": number < 30 ? "203.0.113.1" : "203.0.113.\(number)"]
            let reply = try await gateway.request("GET", port: port, "/live/nobody/index.m3u8", headers: headers)
            if number >= 30 { #expect(reply.status == 404) }
            statuses[reply.status, default: 0] += 1
        }
        let refused = statuses[429, default: 0]
        #expect(refused > 0, "\(statuses)")
        let metrics = try await gateway.request("GET", port: gateway.endpoints.adminPort, "/metrics").text
        let line = metrics.split(separator: "\n").first {
            $0.hasPrefix("footlight_client_refused_total{limit=\"requests\"}")
        }
        #expect(line.map { $0.hasSuffix(" \(refused)") } ?? false, "\(line ?? "") \(statuses)")
    }
}
