import Media
import Stage
import TestSupport
import Testing

@testable import Egress

@Suite("A push to a target that is too slow", .enabled(if: TestRun.isFull), .serialized)
struct SlowTargetTests {
    @Test("it is told of, then left, and taken again when the line is better", .timeLimit(.minutes(2)))
    func slow() throws {
        let nginx = try Nginx()
        try nginx.start()
        let proxy = try FaultProxy(to: Int(nginx.port))
        defer { proxy.close() }
        let sample = try Sample.shared.get()
        var configuration = PushFixture.quick
        // It is the drops that are looked at here, and a slow line moves in large steps.
        configuration.progressLimit = 60
        configuration.drops.window = 1
        configuration.drops.windows = 2
        configuration.drops.endurance = 4
        let fixture = try PushFixture(
            "slow",
            url: "rtmp://127.0.0.1:\(proxy.port)/live",
            key: "slow",
            configuration: configuration
        )
        let broadcast = Broadcast(sample.packets, to: [fixture.push])
        defer { broadcast.end() }
        let first = try #require(fixture.waitFor(.connected))
        #expect(!first.isSlow)
        // A fifteenth of what the stream needs, and less than its keyframes and audio.
        proxy.mode = .slow(bytesPerSecond: 20_000)
        let slow = try #require(fixture.wait { $0.isSlow && $0.state == .connected })
        #expect(slow.lastFault == nil && slow.droppedFrames > 0)
        _ = try #require(fixture.wait(seconds: 40) { $0.lastFault != nil })
        proxy.mode = .pass
        let left = try #require(fixture.history.first { $0.lastFault != nil })
        #expect(left.state == .interrupted && left.lastFault?.code == .stalled)
        #expect(left.lastError?.contains("too slow") == true)
        let back = fixture.wait(seconds: 40) { $0.state == .connected && !$0.isSlow && $0.reconnects > 0 }
        #expect((back?.reconnectReasons[.stalled] ?? 0) > 0)
    }
}
