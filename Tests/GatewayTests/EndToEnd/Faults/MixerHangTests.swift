import FootlightTesting
import Foundation
import Glibc
import Media
import Mixer
import TestSupport
import Testing

@Suite("Hang or fault of a mixer", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(3)))
struct MixerHangTests {
    /// Returns the longest interval in seconds between two frames after a moment.
    private func longestWait(_ tail: FLVFollower, since start: MonotonicTime) -> Double {
        let times = tail.all.filter { $0.isVideo && $0.time > start }.map(\.time)
        let all = [start] + times + [.now()]
        return zip(all, all.dropFirst()).map { $1.seconds(since: $0) }.max() ?? 0
    }

    /// Puts a second room on air.
    private func otherRoom(_ name: String, _ stage: RoomFixture, _ clip: String) async throws -> ChildProcess {
        let (folder, gateway) = ("/v1/rooms/\(name)", stage.gateway)
        try await stage.expect(201, "POST", "/v1/rooms", ["unique_name": .string(name)])
        let answer = try await stage.expect(
            201,
            "POST",
            folder + "/participants",
            ["identity": "other", "mode": "SEND_AND_RECV"]
        )
        let key = answer["ingest"]["rtmp"]["stream_key"].string ?? ""
        let encoder = try FFmpeg.host(file: clip, to: gateway.ingestURL(key: key), isLooped: true)
        let playlist = "/live/\(name)/index.m3u8"
        let isOnAir = try await eventually(within: .seconds(30), every: .milliseconds(100)) {
            try await gateway.request("GET", port: gateway.endpoints.httpPort, playlist).status == 200
        }
        guard isOnAir else { throw ToolFailure("no second program after 30 s", log: gateway.log) }
        return encoder
    }

    @Test("replaces a suspended mixer within six to nine seconds without affecting another room")
    func stopped() async throws {
        let stage = try await RoomFixture(room: "hang")
        let gateway = stage.gateway
        let clip = try await stage.clip(HostScript(.red, tone: 440))
        let encoder = try stage.publish(clip, as: try await stage.join("red"))
        try await stage.waitUntilOnAir()
        let otherEncoder = try await otherRoom("calm", stage, clip)
        let hanging = try Players.flv(gateway.flvURL(room: stage.room))
        let calm = try Players.flv(gateway.flvURL(room: "calm"))
        try await Task.sleep(for: .seconds(2))
        let (pid, calmPid) = (
            try #require(gateway.mixers(of: stage.room).first), try #require(gateway.mixers(of: "calm").first)
        )

        let start = MonotonicTime.now()
        kill(pid, SIGSTOP)
        let next = try await hanging.tail.keyframe(after: start.advanced(seconds: 1), within: .seconds(15))
        let wait = try #require(next, "no picture: \(gateway.log)").time.seconds(since: start)
        print("mixer stopped: next frame after \(wait) s")
        #expect((5..<9).contains(wait))
        #expect(!RunningProcess.isAlive(pid) && gateway.mixers(of: stage.room).count == 1)
        #expect(gateway.mixers(of: "calm") == [calmPid])
        let calmWait = longestWait(calm.tail, since: start)
        print("the other room's longest wait: \(calmWait) s")
        #expect(calmWait < 1.5)
        #expect(hanging.child.isRunning && calm.child.isRunning && encoder.isRunning && otherEncoder.isRunning)
        let line = gateway.log.split(separator: "\n").first { $0.contains("mixer hangs and is replaced") }
        #expect(line?.contains("it neither reports nor publishes") == true, "\(gateway.log)")
    }

    @Test("does not take a mixer for hung after the gateway was suspended for ten seconds")
    func stoppedGateway() async throws {
        let stage = try await RoomFixture(room: "pause")
        let gateway = stage.gateway
        let clip = try await stage.clip(HostScript(.red, tone: 440))
        let encoder = try stage.publish(clip, as: try await stage.join("red"))
        try await stage.waitUntilOnAir()
        try await Task.sleep(for: .seconds(2))
        let mixers = gateway.mixers(of: stage.room)
        kill(gateway.endpoints.pid, SIGSTOP)
        try await Task.sleep(for: .seconds(10))
        kill(gateway.endpoints.pid, SIGCONT)
        try await Task.sleep(for: .seconds(7))
        #expect(gateway.mixers(of: stage.room) == mixers && mixers.count == 1, "\(gateway.log)")
        #expect(!gateway.log.contains("mixer hangs"), "\(gateway.log)")
        #expect(encoder.isRunning)
    }

    @Test("attributes decoder faults to their host, and quarantines it after three")
    func faults() async throws {
        let marker = "every-decoder-faults-here"
        let stage = try await RoomFixture(room: "fault", environment: ["FOOTLIGHT_MIXER_MISBEHAVE": "fault \(marker)"])
        let gateway = stage.gateway
        let (bad, good) = (try await stage.join("bad"), try await stage.join("good"))
        let badClip = try await marked(try await stage.clip(HostScript(.red, tone: 440)), marker, of: stage)
        let goodClip = try await stage.clip(HostScript(.blue, tone: 880))
        let encoders = [try stage.publish(badClip, as: bad), try stage.publish(goodClip, as: good)]
        try await stage.waitUntilOnAir()
        let viewer = try Players.flv(gateway.flvURL(room: stage.room))
        var waits: [Double] = []
        for fault in 1...3 {
            let pid = try await decodingMixer(of: stage, sid: bad.sid)
            let last = try await faultingMixer(pid, viewer.tail)
            let next = try await viewer.tail.keyframe(after: last.advanced(seconds: 0.05), within: .seconds(10))
            let wait = try #require(next, "no picture: \(gateway.log)").time.seconds(since: last)
            print("fault \(fault): next frame \(wait) s after the last one before it")
            waits.append(wait)
        }
        // Half a second on an idle machine; the start of a program dominates.
        #expect(waits.allSatisfy { $0 < 3 }, "\(waits)")
        let isOut = try await eventually(within: .seconds(5)) {
            let reply = try await gateway.api("GET", stage.path("participants/bad"))
            return reply.json["quarantined_until"].string != nil
        }
        let lines = gateway.log.split(separator: "\n").filter { $0.contains("mixer ended") }
        #expect(isOut, "\(lines)")
        #expect(lines.count == 3 && lines.allSatisfy { $0.contains(bad.sid) }, "\(bad.sid): \(lines)")
        #expect(gateway.log.contains("crash: signal 11 in thread decode \(bad.sid)".prefix(42)), "no trace is left")
        #expect(!gateway.log.contains("Program crashed"), "Swift's backtracer ran")
        let reply = try await gateway.api("GET", stage.path("participants/good"))
        #expect(reply.json["quarantined_until"].string == nil)
        #expect(viewer.child.isRunning && encoders[1].isRunning)
    }

    @Test("attributes a stalled decoder to its host, and keeps the program running until the replacement")
    func stalledDecoder() async throws {
        let marker = "every-decoder-hangs-here"
        let stage = try await RoomFixture(room: "stall", environment: ["FOOTLIGHT_MIXER_MISBEHAVE": "stall \(marker)"])
        let gateway = stage.gateway
        let (bad, good) = (try await stage.join("bad"), try await stage.join("good"))
        let badClip = try await marked(try await stage.clip(HostScript(.red, tone: 440)), marker, of: stage)
        let goodClip = try await stage.clip(HostScript(.blue, tone: 880))
        let encoders = [try stage.publish(badClip, as: bad), try stage.publish(goodClip, as: good)]
        try await stage.waitUntilOnAir()
        let viewer = try Players.flv(gateway.flvURL(room: stage.room))
        let pid = try await decodingMixer(of: stage, sid: bad.sid)
        try await Task.sleep(for: .seconds(2))
        let start = MonotonicTime.now()
        kill(pid, SIGUSR2)
        let isReplaced = try await eventually(within: .seconds(20)) { !RunningProcess.isAlive(pid) }
        let seconds = MonotonicTime.now().seconds(since: start)
        #expect(isReplaced && seconds > 4, "\(seconds) s: \(gateway.log)")
        let next = try await viewer.tail.keyframe(after: .now(), within: .seconds(10))
        let wait = longestWait(viewer.tail, since: start)
        print("decoder hung: its mixer ended after \(seconds) s; the viewer's longest wait: \(wait) s")
        #expect(next != nil && wait < 3, "\(wait) s")
        let lines = gateway.log.split(separator: "\n")
        #expect(lines.contains { $0.contains("decoder stalled by a host's media") && $0.contains(bad.sid) })
        #expect(lines.contains { $0.contains("mixer ended") && $0.contains(bad.sid) && !$0.contains(good.sid) })
        #expect(viewer.child.isRunning && encoders[1].isRunning)
    }

    /// Returns a copy of the clip with an SEI message before each keyframe.
    private func marked(_ clip: String, _ marker: String, of stage: RoomFixture) async throws -> String {
        let path = stage.folder.file("marked.flv")
        let message = "h264_metadata=sei_user_data=086f3693-b7b3-4f2c-9653-21492feee5b8+\(marker)"
        let command = ["ffmpeg", "-nostdin", "-loglevel", "error", "-i", clip, "-c", "copy", "-bsf:v", message, path]
        try await ChildProcess.run(command, within: .seconds(10))
        return path
    }

    /// Triggers a fault at the next marked keyframe, and waits for the mixer's exit.
    ///
    /// - Returns: The time of the mixer's last frame at the viewer.
    private func faultingMixer(_ pid: Int32, _ viewer: FLVFollower) async throws -> MonotonicTime {
        kill(pid, SIGUSR2)
        let isGone = try await eventually(within: .seconds(20), every: .milliseconds(5)) {
            !RunningProcess.isAlive(pid)
        }
        let died = MonotonicTime.now()
        guard isGone else { throw ToolFailure("the mixer does not fault", log: "") }
        return viewer.all.last { $0.isVideo && $0.time <= died }?.time ?? died
    }

    /// Waits until a mixer decodes the host's media; returns its process id.
    private func decodingMixer(of stage: RoomFixture, sid: String) async throws -> Int32 {
        var pid: Int32?
        let isThere = try await eventually(within: .seconds(20)) {
            pid = stage.gateway.mixers(of: stage.room).first
            guard let pid else { return false }
            return thread(of: pid, decoding: sid) != nil
        }
        guard isThere, let pid else { throw ToolFailure("no mixer decodes \(sid)", log: stage.gateway.log) }
        return pid
    }

    /// Returns the decode thread of a host; thread names are truncated to 15 bytes.
    private func thread(of pid: Int32, decoding sid: String) -> Int32? {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
        return threads.compactMap { Int32($0) }.first { thread in
            let name = FileManager.default.contents(atPath: "/proc/\(pid)/task/\(thread)/comm") ?? Data()
            return String(decoding: name, as: UTF8.self).hasPrefix("decode \(sid)".prefix(15))
        }
    }
}
