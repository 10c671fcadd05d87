import FootlightTesting
import Foundation
import Logging
import Stage
import TestSupport
import Testing

@testable import Gateway

@Suite("Livestreams over a restart", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct LivestreamResumptionTests {
    @Test(
        "a livestream goes on to its outputs after a stop and after a crash, with a picture, and no longer once stopped",
        arguments: [true, false]
    )
    func resumes(isKilled: Bool) async throws {
        let stage = try await RoomFixture(room: "onward")
        let gateway = stage.gateway
        let host = try await stage.join("red")
        let clip = try await stage.clip(HostScript(.red, tone: 440))
        var encoder = try stage.publish(clip, as: host)
        defer { encoder.end() }
        try await stage.waitUntilOnAir()
        let platform = try await NginxRTMP()
        let key = "secret-key-of-a-platform"
        let target: JSONValue = ["name": "one", "url": .string(platform.url), "stream_key": .string(key)]
        let start: JSONValue = ["outputs": [target], "max_duration": 600]
        try await stage.expect(202, "POST", stage.path("livestream/start"), start)
        #expect(try await stage.waitForOutput("one", ["connected"]))

        if isKilled { try await gateway.kill9() } else { _ = try await gateway.terminate() }
        encoder.end()
        // The stream key is on disk, but not in clear.
        let names = try FileManager.default.contentsOfDirectory(atPath: gateway.dataFolder)
        #expect(names.contains("livestreams.sealed"))
        for name in names {
            let file = FileManager.default.contents(atPath: "\(gateway.dataFolder)/\(name)")
            #expect(file?.range(of: Data(key.utf8)) == nil, "the stream key stands in \(name)")
        }
        let before = try platform.recordings.count
        // The platform names its files by the second.
        try await Task.sleep(for: .milliseconds(1100))
        try await gateway.start(reusesPorts: true)
        encoder = try stage.publish(clip, as: host)
        #expect(try await stage.waitForOutput("one", ["connected"]))
        func pushed() throws -> Int {
            guard let newest = try platform.recordings.last, try platform.recordings.count > before else { return 0 }
            return try FileManager.default.attributesOfItem(atPath: newest)[.size] as? Int ?? 0
        }
        let isBack = try await eventually(within: .seconds(15)) {
            let host = try await stage.expect(200, "GET", stage.path("participants/red"))
            return try host["is_camera_on"].bool == true && pushed() > 0
        }
        #expect(isBack)
        let first = try pushed()
        let isPushed = try await eventually(within: .seconds(15)) { try pushed() > first + 800_000 }
        #expect(isPushed)
        let status = try await stage.expect(200, "GET", stage.path("egress"))["livestream"]
        #expect(status["state"].string == "LIVESTREAM_STARTED")
        try await stage.expect(202, "POST", stage.path("livestream/stop"))
        let recording = try await Recording(path: try #require(try platform.recordings.last))
        let end = recording.duration(.video)
        #expect(try await recording.frame(at: end - 0.5).colour(x: 640, y: 360).distance(to: .red) < 60)

        let isGone = try await eventually(within: .seconds(5)) {
            !FileManager.default.fileExists(atPath: gateway.dataFolder + "/livestreams.sealed")
        }
        #expect(isGone)
        _ = try await gateway.terminate()
        try await gateway.start(reusesPorts: true)
        try await Task.sleep(for: .seconds(1))
        let later = try await stage.expect(200, "GET", stage.path("egress"))["livestream"]["state"].string
        #expect(later == "LIVESTREAM_STOPPED")
    }
}

@Suite("Plans of livestreams")
struct LivestreamPlanTests {
    @Test("what is left of the duration counts from the start; nothing goes on after its end")
    func duration() {
        let options = LivestreamOptions(maximumDuration: 600, minimumIdleTimeout: 60)
        var target = OutputTarget(name: "one", url: "rtmp://a/live", streamKey: "k")
        (target.backupURL, target.backupStreamKey, target.rendition) = ("rtmp://b/live", "s", "720p")
        target.mustBePublic = true
        let plan = LivestreamPlan([target], options, startedAt: 1000)
        #expect(plan.targets == [target])
        #expect(plan.options(at: 1000) == options)
        #expect(plan.options(at: 1100)?.maximumDuration == 500)
        // A clock that was set back.
        #expect(plan.options(at: 900) == options)
        #expect(plan.options(at: 1600) == nil)
    }

    @Test("plans are read again by the same secret; a damaged file and another secret give none")
    func sealed() throws {
        let folder = try TemporaryFolder("plans")
        let directory = try DataDirectory(folder.file("data"))
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let secret = [UInt8](repeating: 3, count: 32)
        let target = OutputTarget(name: "one", url: "rtmp://a/live", streamKey: "k")
        let plan = LivestreamPlan([target], LivestreamOptions(), startedAt: 1000)
        let plans = LivestreamPlans(directory, secret: secret, logger: logger)
        plans.set(plan, of: "show")
        plans.flush()
        #expect(LivestreamPlans(directory, secret: secret, logger: logger).load() == ["show": plan])
        let other = [UInt8](repeating: 4, count: 32)
        #expect(LivestreamPlans(directory, secret: other, logger: logger).load().isEmpty)
        try Data("damaged".utf8).write(to: URL(fileURLWithPath: directory.filePath(LivestreamPlans.fileName)))
        #expect(LivestreamPlans(directory, secret: secret, logger: logger).load().isEmpty)
        plans.set(nil, of: "show")
        plans.flush()
        #expect(!FileManager.default.fileExists(atPath: directory.filePath(LivestreamPlans.fileName)))
    }
}
