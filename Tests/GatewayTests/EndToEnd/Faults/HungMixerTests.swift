import FootlightTesting
import Foundation
import Glibc
import Media
import Mixer
import Testing

@Suite("A mixer that hangs or faults", .serialized, .timeLimit(.minutes(3)))
struct HungMixerTests {
    /// The longest time in seconds between two pictures that came after a moment.
    private func longestWait(_ tail: FLVTail, since start: MonotonicTime) -> Double {
        let times = tail.all.filter { $0.isPicture && $0.time > start }.map(\.time)
        let all = [start] + times + [.now()]
        return zip(all, all.dropFirst()).map { $1.seconds(since: $0) }.max() ?? 0
    }

    /// Puts a second room on air beside the stage's.
    private func otherRoom(_ name: String, _ stage: FaultStage, _ clip: String) async throws -> ChildProcess {
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

    @Test("Stopped for ever, it is replaced within six seconds and a moment; the other room notices nothing")
    func stopped() async throws {
        let stage = try await FaultStage(room: "hang")
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
        let next = try await hanging.tail.keyPicture(after: start.advanced(seconds: 1), within: .seconds(15))
        let wait = try #require(next, "no picture: \(gateway.log)").time.seconds(since: start)
        print("mixer stopped: next picture after \(wait) s")
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

    @Test("A gateway that was stopped for ten seconds itself takes no mixer for hung")
    func stoppedGateway() async throws {
        let stage = try await FaultStage(room: "pause")
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

    @Test("A fault while one host is decoded ends the mixer at once, and after three that host is kept out")
    func faults() async throws {
        let stage = try await FaultStage(room: "fault")
        let gateway = stage.gateway
        let (bad, good) = (try await stage.join("bad"), try await stage.join("good"))
        let clips = [
            try await stage.clip(HostScript(.red, tone: 440)), try await stage.clip(HostScript(.blue, tone: 880)),
        ]
        let encoders = [try stage.publish(clips[0], as: bad), try stage.publish(clips[1], as: good)]
        try await stage.waitUntilOnAir()
        let viewer = try Players.flv(gateway.flvURL(room: stage.room))
        var waits: [Double] = []
        for death in 1...3 {
            let pid = try await decodingMixer(of: stage, sid: bad.sid)
            let start = try await fault(pid, decoding: bad.sid, of: stage)
            #expect(try await eventually(within: .seconds(5), every: .milliseconds(5)) { !RunningProcess.isAlive(pid) })
            let died = MonotonicTime.now().seconds(since: start)
            let next = try await viewer.tail.keyPicture(after: start.advanced(seconds: 0.05), within: .seconds(10))
            let wait = try #require(next, "no picture: \(gateway.log)").time.seconds(since: start)
            print("fault \(death): dead after \(died) s, next picture after \(wait) s")
            waits.append(wait)
            // What a program needs to begin again depends on the machine; the death itself must take next to nothing.
            #expect(died < 0.5, "dead after \(died) s")
        }
        #expect(waits.allSatisfy { $0 < 3 }, "\(waits)")
        let isOut = try await eventually(within: .seconds(5)) {
            let reply = try await gateway.api("GET", stage.path("participants/bad"))
            return reply.json["quarantined_until"].string != nil
        }
        let lines = gateway.log.split(separator: "\n").filter { $0.contains("mixer ended") }
        #expect(isOut, "\(lines)")
        #expect(lines.count == 3 && lines.allSatisfy { $0.contains("decoding=\(bad.sid)") }, "\(lines)")
        #expect(gateway.log.contains("crash: signal 11 in thread decode "), "no trace is left")
        #expect(!gateway.log.contains("Program crashed"), "Swift's backtracer ran")
        let reply = try await gateway.api("GET", stage.path("participants/good"))
        #expect(reply.json["quarantined_until"].string == nil)
        #expect(viewer.child.isRunning && encoders[1].isRunning)
    }

    /// The mixer, once the host's media is decoded.
    private func decodingMixer(of stage: FaultStage, sid: String) async throws -> Int32 {
        var pid: Int32?
        let isThere = try await eventually(within: .seconds(20)) {
            pid = stage.gateway.mixers(of: stage.room).first
            guard let pid else { return false }
            return thread(of: pid, decoding: sid) != nil
        }
        guard isThere, let pid else { throw ToolFailure("no mixer decodes \(sid)", log: stage.gateway.log) }
        return pid
    }

    /// Sends a memory fault to the thread that decodes one host's media, in the middle of a packet of that host alone.
    ///
    /// - Returns: When that was.
    private func fault(_ pid: Int32, decoding sid: String, of stage: FaultStage) async throws -> MonotonicTime {
        typealias ThreadKill = @convention(c) (Int32, Int32, Int32) -> Int32
        let symbol = try #require(dlsym(nil, "tgkill"))
        let threadKill = unsafeBitCast(symbol, to: ThreadKill.self)
        let marks = "\(stage.gateway.dataFolder)/mixer-\(stage.room).marks"
        let target = try #require(thread(of: pid, decoding: sid))
        let deadline = MonotonicTime.now().advanced(seconds: 30)
        while .now() < deadline {
            for _ in 0..<2000 where WorkMarks.marked(in: marks) == [sid] {
                if threadKill(pid, target, SIGSEGV) == 0 { return .now() }
            }
            try await Task.sleep(for: .milliseconds(1))
        }
        throw ToolFailure("the mixer was never found decoding", log: stage.gateway.log)
    }

    /// The thread of a process that decodes a host's media; names are cut to 15 bytes.
    private func thread(of pid: Int32, decoding sid: String) -> Int32? {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
        return threads.compactMap { Int32($0) }.first { thread in
            let name = FileManager.default.contents(atPath: "/proc/\(pid)/task/\(thread)/comm") ?? Data()
            return String(decoding: name, as: UTF8.self).hasPrefix("decode \(sid)".prefix(15))
        }
    }
}
