import FootlightTesting
import Foundation
import Media
import Stage
import TestSupport
import Testing

@Suite("Outputs with faulty targets", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct OutputFaultTests {
    @Test("a faulty target affects its own output only, reports its error, and recovers")
    func targets() async throws {
        let stage = try await RoomFixture(room: "outputs")
        // Without this, a decoder would assume BT.709 for the video's size.
        var video = HostVideoScript(.green)
        video.isBT709 = true
        let clip = try await stage.clip(HostScript(video: video, audio: .tone(440)))
        let encoder = try stage.publish(clip, as: try await stage.join("host"))
        try await stage.waitUntilOnAir()

        let (good, dying, freezing) = (try await NginxRTMP(), try await NginxRTMP(), try await NginxRTMP())
        let (absent, denying) = (try await NginxRTMP(), try await NginxRTMP(refusesPublishers: true))
        absent.stop()
        let silent = try UnresponsiveListener()
        let viewer = try Players.rtmp(stage.gateway.rtmpURL(room: stage.room))
        let outputs: [JSONValue] = [
            target("good", good.url), target("dying", dying.url), target("freezing", freezing.url),
            target("absent", absent.url), target("denying", denying.url),
            target("silent", "rtmp://127.0.0.1:\(silent.port)/live"),
        ]
        try await stage.expect(202, "POST", stage.path("livestream/start"), ["outputs": .array(outputs)])
        for name in ["good", "dying", "freezing"] {
            #expect(try await stage.waitForOutput(name, ["connected"]), "\(name)")
        }
        _ = try await eventually { try !good.recordings.isEmpty }
        let pushed = FLVFollower(path: try #require(try good.recordings.first))

        // Refused by the system, and by the server.
        #expect(try await fault("absent", of: stage)?.lowercased().contains("refused") == true)
        #expect(try await stage.output("absent")["state"].string == "connecting")
        #expect(try await stage.waitForOutput("denying", ["failed"]))
        let denial = try await stage.output("denying")["last_error"]["message"].string ?? ""
        #expect(!denial.isEmpty)

        // One target exits, another one is suspended.
        dying.stop()
        freezing.pause()
        let frozen = MonotonicTime.now()
        #expect(try await stage.waitForOutput("dying", ["interrupted"]))
        let death = try await stage.output("dying")["last_error"]["message"].string ?? ""
        #expect(!death.isEmpty)
        #expect(try await stage.waitForOutput("freezing", ["interrupted"]))
        let stall = try await stage.output("freezing")
        print(
            "outputs: denied \"\(denial)\"; died \"\(death)\"; frozen noticed after",
            "\(MonotonicTime.now().seconds(since: frozen)) s \"\(stall["last_error"]["message"].string ?? "")\",",
            "dropped \(stall["dropped_frames"].int ?? -1)"
        )
        #expect(stall["last_error"]["message"].string?.isEmpty == false)

        // A listener that never answers fails at the handshake's timeout.
        let silence = try await fault("silent", of: stage)
        #expect(silence != nil)
        #expect(try await stage.output("silent")["state"].string == "connecting")

        // All targets recover.
        try await dying.start()
        try await absent.start()
        freezing.resume()
        let healed = MonotonicTime.now()
        for name in ["dying", "freezing", "absent"] {
            #expect(try await stage.waitForOutput(name, ["connected"]), "\(name)")
            print("outputs: \(name) is connected after \(MonotonicTime.now().seconds(since: healed)) s")
        }
        #expect(try await stage.output("dying")["reconnects"].int == 1)
        #expect(try await stage.output("freezing")["reconnects"].int == 1)
        #expect(try await stage.output("absent")["reconnects"].int == 0)

        try await addAndRemove(stage)
        try await Task.sleep(for: .seconds(1))
        let state = try await stage.output("good")
        #expect(state["state"].string == "connected" && state["last_error"] == .null, "\(state.text)")
        #expect(state["reconnects"].int == 0 && state["dropped_frames"].int == 0, "\(state.text)")
        #expect(encoder.isRunning && viewer.child.isRunning)
        // Outputs are flushed every 0.6 s.
        checkUntouched("output", pushed, longestWait: 0.9)
        checkUntouched("RTMP viewer", viewer.tail, longestWait: 0.5)

        viewer.child.end()
        // The restarted and the resumed target have recorded the program after their return.
        for server in [dying, freezing] {
            let last = try #require(try server.recordings.last)
            let frame = try await Recording(path: last).frame(at: 0.5)
            #expect(frame.averageColour(x: 100, y: 100, width: 400, height: 200).distance(to: .green) <= 12)
        }
        #expect(try good.recordings.count == 1)
        let log = stage.gateway.log
        for name in ["good", "dying", "freezing", "absent", "denying", "silent"] {
            #expect(!log.contains("secret-of-\(name)"))
        }
    }

    private func target(_ name: String, _ url: String) -> JSONValue {
        ["name": .string(name), "url": .string(url), "stream_key": .string("secret-of-\(name)")]
    }

    /// Waits for an output's error.
    private func fault(_ name: String, of stage: RoomFixture) async throws -> String? {
        var fault: String?
        _ = try await eventually(every: .milliseconds(100)) {
            fault = try await stage.output(name)["last_error"]["message"].string
            return fault != nil
        }
        return fault
    }

    /// Adds and removes outputs while others run; the last one cannot be removed.
    private func addAndRemove(_ stage: RoomFixture) async throws {
        let late = try await NginxRTMP()
        try await stage.expect(
            202,
            "POST",
            stage.path("livestream/outputs"),
            ["outputs": [target("late", late.url)]]
        )
        #expect(try await stage.waitForOutput("late", ["connected"]))
        for name in ["late", "denying", "silent", "absent", "dying", "freezing"] {
            try await stage.expect(200, "DELETE", stage.path("livestream/outputs/\(name)"))
            #expect(try await stage.output(name) == .null)
        }
        let refusal = try await stage.expect(409, "DELETE", stage.path("livestream/outputs/good"))
        #expect(refusal["code"].int == 4015 || refusal["error"]["code"].int == 4015, "\(refusal.text)")
        #expect(try await stage.output("good")["stream_key"].string == "****good")
    }

    private func checkUntouched(_ name: String, _ tail: FLVFollower, longestWait: Double) {
        let videoSteps = tail.steps(\.isVideo)
        let audioSteps = tail.steps { $0.kind == .audio }
        #expect(videoSteps.count > 400, "\(name)")
        #expect((videoSteps.min() ?? 0) > 0 && (videoSteps.max() ?? 0) < 40, "\(name): \(videoSteps.max() ?? 0) ms")
        #expect((audioSteps.min() ?? 0) > 0 && (audioSteps.max() ?? 0) < 40, "\(name): \(audioSteps.max() ?? 0) ms")
        print("outputs: \(name), longest wait for a frame \(Int(tail.longestWait * 1000)) ms")
        #expect(tail.longestWait < longestWait, "\(name)")
    }
}
