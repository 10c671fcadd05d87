import Media
@testable import RTMP
import Synchronization
import Testing

@Suite("Connections that have not said yet what they want")
struct AdmissionTests {
    private final class HandClock: MonotonicClock {
        private let moment = Mutex(MonotonicTime(nanoseconds: 5_000_000_000))
        var now: MonotonicTime { moment.withLock { $0 } }
        func advance(seconds: Double) { moment.withLock { $0 = $0.advanced(seconds: seconds) } }
    }

    @Test("One client has its own share, whatever addresses of its network it takes; loopback is a client like any")
    func clients() {
        let admission = Admission(limits: RTMPLimits())
        let house = (0..<30).compactMap { admission.admit(address: "2001:db8:0:1::\(String($0, radix: 16))") }
        #expect(house.count == 20)
        #expect(admission.admit(address: "2001:db8:0:2::1") != nil)
        let here = (0..<30).compactMap { _ in admission.admit(address: "127.0.0.1") }
        #expect(here.count == 20)
        #expect(admission.refused.waiting == 20)
        house[0].left()
        #expect(admission.admit(address: "2001:db8:0:1:ffff::1") != nil)
    }

    @Test("A proxy that the operator has named has no share of a client's")
    func proxies() {
        var limits = RTMPLimits()
        limits.isProxy = { $0 == "192.0.2.9" }
        let admission = Admission(limits: limits)
        #expect((0..<100).compactMap { _ in admission.admit(address: "192.0.2.9") }.count == 100)
    }

    @Test("Strangers who keep all places keep nobody out who published within the last hour")
    func publishers() throws {
        let clock = HandClock()
        var limits = RTMPLimits()
        limits.preAuthConnections = 50
        let admission = Admission(limits: limits, clock: clock)
        let host = try #require(admission.admit(address: "192.0.2.1"))
        host.beganPublishing()
        host.left()
        let strangers = (0..<100).compactMap { admission.admit(address: "2001:db8:0:\(String($0, radix: 16))::1") }
        #expect(strangers.count == 40)
        #expect(admission.admit(address: "192.0.2.2") == nil)
        let again = try #require(admission.admit(address: "192.0.2.1"))
        again.left()
        clock.advance(seconds: 3_601)
        #expect(admission.admit(address: "192.0.2.1") == nil)
        strangers[0].left()
        #expect(admission.admit(address: "192.0.2.2") != nil)
    }

    @Test("A client's players and the viewers of all have limits; who is no viewer has none, and who stops makes room")
    func players() throws {
        var limits = RTMPLimits()
        limits.playersPerClient = 2
        let gate = ConnectionGate(limit: 100, viewers: 3)
        let admission = Admission(limits: limits, gate: gate)
        func player(_ address: String) throws -> Admission.Ticket {
            try #require(admission.admit(address: address))
        }
        let first = try (0..<2).map { _ in try player("192.0.2.1") }
        #expect(first.allSatisfy { $0.beganPlaying(isViewer: true) })
        let third = try player("192.0.2.1")
        #expect(!third.beganPlaying(isViewer: true))
        #expect(third.beganPlaying(isViewer: false))
        let other = try player("192.0.2.2")
        #expect(other.beganPlaying(isViewer: true))
        let full = try player("192.0.2.3")
        #expect(!full.beganPlaying(isViewer: true))
        #expect(gate.viewers == 3 && gate.refused == 1 && gate.isFull)
        first[0].becameIdle()
        #expect(full.beganPlaying(isViewer: true))
        other.left()
        other.left()
        #expect(gate.viewers == 2 && admission.refused.players == 1)
        #expect(first[0].beganPlaying(isViewer: true))
    }

    @Test("Connections in all have a limit")
    func total() {
        var limits = RTMPLimits()
        limits.connections = 3
        let admission = Admission(limits: limits)
        let three = (0..<5).compactMap { admission.admit(address: "192.0.2.\($0)") }
        #expect(three.count == 3)
        three[0].left()
        #expect(admission.admit(address: "192.0.2.9") != nil)
    }
}
