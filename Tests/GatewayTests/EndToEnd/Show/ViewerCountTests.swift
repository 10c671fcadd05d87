import FootlightTesting
import Foundation
import Gateway
import Media
import TestSupport
import Testing

@Suite("Viewer count", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct ViewerCountTests {
    /// Viewers by protocol.
    private struct Count: Equatable, CustomStringConvertible {
        var rtmp = 0
        var flv = 0
        var hls = 0

        var total: Int { rtmp + flv + hls }
        var description: String { "\(rtmp) RTMP, \(flv) FLV, \(hls) HLS" }
    }

    @Test("counts thirty players exactly while they join and leave in steps, and nothing else")
    func steps() async throws {
        let stage = try await RoomFixture(room: "show")
        let (red, blue) = (try await stage.join("red"), try await stage.join("blue"))
        let clip = try await stage.clip(HostScript(.red, tone: 440))
        let hosts = [try stage.publish(clip, as: red), try stage.publish(clip, as: blue)]
        let nginx = try await NginxRTMP(isRecording: false)
        let output: JSONValue = ["name": "out", "url": .string(nginx.url), "stream_key": "out"]
        try await stage.expect(202, "POST", stage.path("livestream/start"), ["outputs": [output]])
        try await stage.waitUntilOnAir()
        try await askWithoutWatching(stage)

        let machines = try await self.machines(at: stage)

        let crowd = Crowd(watching: stage.room, on: stage.gateway)
        var joins = 0
        var truth = Count()
        for number in [3, 4, 3] {
            let before = truth
            try crowd.join(rtmp: number, flv: number, hls: number)
            joins += 3 * number
            truth.rtmp += number
            truth.flv += number
            truth.hls += number
            // Five seconds of media, or a second playlist request, prove a viewer.
            try await expectCount(truth, joins: joins, peak: truth.total, on: stage, within: 9, from: before)
            #expect(crowd.isWatching)
        }
        let areWatching = machines.allSatisfy(\.isWatching)
        #expect(areWatching)
        let report = try await stage.expect(200, "GET", stage.path("viewership"))
        #expect(report["excluded"]["role"].int == 9, "\(report["excluded"].text)")
        try await MetricsCheck(stage.gateway).run(viewers: truth.total)
        try await askWithoutWatching(stage)
        #expect(try await stage.waitForOutput("out", ["connected"]))

        // Closed connections leave at once; HLS sessions after twelve seconds without requests.
        let gone = MonotonicTime.now()
        await crowd.leave(rtmp: 6, flv: 5, hls: 4)
        truth = Count(rtmp: 4, flv: 5, hls: 10)
        let full = Count(rtmp: 10, flv: 10, hls: 10)
        try await expectCount(truth, joins: joins, peak: 30, on: stage, within: 1, from: full)
        try crowd.join(rtmp: 2, flv: 0, hls: 0)
        joins += 2
        let refilled = Count(rtmp: 6, flv: 5, hls: 10)
        try await expectCount(refilled, joins: joins, peak: 30, on: stage, within: 8, from: truth)
        truth = Count(rtmp: 6, flv: 5, hls: 6)
        try await expectCount(truth, joins: joins, peak: 30, on: stage, within: 10, from: refilled)
        let seconds = MonotonicTime.now().seconds(since: gone)
        print("HLS: a viewer who left was counted for another", seconds, "s")
        #expect(seconds > 9 && seconds < 15)
        #expect(crowd.isWatching && hosts.allSatisfy { $0.isRunning })

        await crowd.leave(rtmp: 6, flv: 5, hls: 6)
        try await expectCount(Count(hls: 6), joins: joins, peak: 30, on: stage, within: 1, from: truth)
        try await expectCount(Count(), joins: joins, peak: 30, on: stage, within: 14, from: Count(hls: 6))
        let areStillWatching = machines.allSatisfy(\.isWatching)
        #expect(areStillWatching)
        for machine in machines { await machine.leave(rtmp: 1, flv: 1, hls: 1) }
        try await checkWatchTime(stage)
    }

    /// Starts a monitor, a relay and a thumbnailer, each with one player per protocol.
    private func machines(at stage: RoomFixture) async throws -> [Crowd] {
        let issuer = try TokenIssuer(dataDirectory: stage.gateway.dataFolder)
        var machines: [Crowd] = []
        for (role, room) in [("monitor", nil), ("relay", stage.room), ("thumbnail", "another")] as [(String, String?)] {
            let token = try await issuer.machineToken(role: role, identity: role, room: room, expiresIn: 600)
            let machine = Crowd(watching: stage.room, on: stage.gateway, token: token)
            try machine.join(rtmp: 1, flv: 1, hls: 1)
            machines.append(machine)
        }
        return machines
    }

    // MARK: Steps

    /// Waits for `count` without leaving the range from `former`, and checks every source of the count.
    private func expectCount(
        _ count: Count,
        joins: Int,
        peak: Int,
        on stage: RoomFixture,
        within seconds: Int,
        from former: Count,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        var report: JSONValue = .null
        let isReached = try await eventually(within: .seconds(seconds), every: .milliseconds(200)) {
            report = try await stage.expect(200, "GET", stage.path("viewership"))
            let seen = self.count(in: report)
            for (part, name) in [(\Count.rtmp, "RTMP"), (\.flv, "FLV"), (\.hls, "HLS")] {
                let ends = [former[keyPath: part], count[keyPath: part]].sorted()
                let isBetween = (ends[0]...ends[1]).contains(seen[keyPath: part])
                #expect(isBetween, "\(name): \(seen)", sourceLocation: location)
            }
            #expect(seen.total == report["concurrent_viewers"].int, "\(report.text)", sourceLocation: location)
            return seen == count
        }
        #expect(isReached, "\(count) expected: \(report.text)", sourceLocation: location)
        // The count is stable.
        try await Task.sleep(for: .milliseconds(300))
        report = try await stage.expect(200, "GET", stage.path("viewership"))
        #expect(self.count(in: report) == count, "\(report.text)", sourceLocation: location)
        #expect(report["concurrent_viewers"].int == count.total, sourceLocation: location)
        #expect(report["joins"].int == joins, "\(report.text)", sourceLocation: location)
        #expect(report["peak_concurrent_viewers"].int == peak, "\(report.text)", sourceLocation: location)
        #expect(report["by"]["protocol"]["sdk"].int == 0 && report["by"]["protocol"]["llhls"].int == 0)

        let all = try await stage.expect(200, "GET", "/v1/viewership")
        #expect(self.count(in: all["total"]) == count && all["total"]["joins"].int == joins, "\(all.text)")
        #expect(all["total"]["peak_concurrent_viewers"].int == peak, "\(all.text)", sourceLocation: location)
        #expect(all["rooms"].elements.map { $0["room"].string } == [stage.room], "\(all.text)")
        #expect(self.count(in: all["rooms"][0]) == count, "\(all.text)", sourceLocation: location)
        let room = try await stage.expect(200, "GET", "/v1/rooms/\(stage.room)")
        #expect(room["counts"]["anonymous"].int == count.total && room["counts"]["hosts"].int == 2, "\(room.text)")
        let port = stage.gateway.endpoints.adminPort
        let lines = try await stage.gateway.request("GET", port: port, "/metrics").text.split(separator: "\n")
        for (name, number) in [("rtmp", count.rtmp), ("flv", count.flv), ("hls", count.hls)] {
            let samples = lines.filter {
                $0.hasPrefix("footlight_viewers{") && $0.contains("\"\(stage.room)\"") && $0.contains("\"\(name)\"")
            }
            let total = samples.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
            #expect(total == number, "\(samples)", sourceLocation: location)
        }
    }

    private func count(in report: JSONValue) -> Count {
        let part = report["by"]["protocol"]
        return Count(rtmp: part["rtmp"].int ?? -1, flv: part["flv"].int ?? -1, hls: part["hls"].int ?? -1)
    }

    /// Makes requests that do not count, and some that are refused.
    private func askWithoutWatching(_ stage: RoomFixture) async throws {
        let (gateway, port) = (stage.gateway, stage.gateway.endpoints.httpPort)
        let index = try await gateway.request("GET", port: port, "/live/show/index.m3u8")
        let line = try #require(index.text.split(separator: "\n").first { !$0.hasPrefix("#") })
        for path in ["/live/show.flv", "/live/show/index.m3u8", "/live/show/\(line)"] {
            for _ in 0..<3 { #expect(try await gateway.request("HEAD", port: port, path).status == 200, "\(path)") }
        }
        let forged = "/live/show/media.m3u8?sid=" + String(repeating: "A", count: 32)
        for _ in 0..<3 { #expect(try await gateway.request("GET", port: port, forged).status == 403) }
        #expect(try await gateway.request("GET", port: port, "/live/none.flv").status == 404)
        #expect(try await gateway.request("GET", port: port, "/live/none/index.m3u8").status == 404)
        // RTMP refuses unknown rooms, and a host's identity is no program.
        for name in ["none", "red"] {
            let player = try ChildProcess([
                "rtmpdump", "-q", "--live", "-r", gateway.rtmpURL(room: name), "-o", "/dev/null",
            ])
            let exit = try await player.wait(.seconds(20))
            #expect(exit != nil && exit != .code(0), "\(name): \(String(describing: exit))")
        }
    }

    /// Expects the watch time to be within its possible range.
    private func checkWatchTime(_ stage: RoomFixture) async throws {
        let report = try await stage.expect(200, "GET", stage.path("viewership"))
        let watched = report["watch_time_seconds"].double ?? 0
        print("time watched by 32 players:", watched, "s")
        #expect(watched > 32 * 5 && watched < 32 * 60)
    }
}
