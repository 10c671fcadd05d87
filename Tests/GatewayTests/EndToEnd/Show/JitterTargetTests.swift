import FootlightTesting
import Foundation
import Testing

@Suite("How long a host is held back", .serialized, .timeLimit(.minutes(1)))
struct JitterTargetTests {
    @Test("A target is the program's, then the room's, then the host's own; each changes on air, and the API shows it")
    func targets() async throws {
        let stage = try await FaultStage(room: "near")
        let red = try await stage.join("red")
        let host = try stage.publish(try await stage.clip(HostScript(.red, tone: 330)), as: red)
        try await stage.waitUntilOnAir()
        let usual = try await buffer(at: 300, of: stage)
        try await stage.expect(200, "PUT", stage.path("sound"), ["jitter_target": 250])
        _ = try await buffer(at: 250, of: stage)
        let sound = try await stage.expect(200, "PUT", stage.path("participants/red/sound"), ["jitter_target": 60])
        #expect(sound["sound"]["jitter_target"].int == 60)
        let told = ContinuousClock.now
        let begin = try await buffer(at: 60, of: stage)
        // It goes there at two per cent of the time, which nobody hears.
        try await Task.sleep(for: .seconds(2.5))
        let later = try await buffer(at: 60, of: stage)
        print("buffer \(usual) ms, after the command \(begin) ms, \(ContinuousClock.now - told) later \(later) ms")
        #expect(later < usual - 25, "\(usual) ms, \(later) ms")
        #expect(host.isRunning)
    }

    /// What waits of the host, once the target is in force.
    private func buffer(at target: Double, of stage: FaultStage) async throws -> Double {
        var sync = JSONValue.null
        let isInForce = try await eventually(every: .milliseconds(50)) {
            sync = try await stage.expect(200, "GET", stage.path("participants/red"))["sync"]
            return sync["target_ms"].double == target && (sync["buffer_ms"].double ?? 0) != 0
        }
        #expect(isInForce, "\(target) ms: \(sync.text)")
        return sync["buffer_ms"].double ?? 0
    }
}
