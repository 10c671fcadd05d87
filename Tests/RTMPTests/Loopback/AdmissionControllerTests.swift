import FootlightTesting
import NIOCore
import NIOPosix
import Testing

@testable import RTMP

@Suite("Admission of connections")
struct AdmissionControllerTests {
    @Test("limits waiting connections per client network, including loopback")
    func clients() {
        let admission = AdmissionController(limits: RTMPLimits())
        let network = (0..<30).compactMap { admission.admit(address: "2001:db8:0:1::\(String($0, radix: 16))") }
        #expect(network.count == 20)
        #expect(admission.admit(address: "2001:db8:0:2::1") != nil)
        let here = (0..<30).compactMap { _ in admission.admit(address: "127.0.0.1") }
        #expect(here.count == 20)
        #expect(admission.refused.waiting == 20)
        network[0].release()
        #expect(admission.admit(address: "2001:db8:0:1:ffff::1") != nil)
    }

    @Test("does not apply client limits to a configured proxy")
    func proxies() {
        var limits = RTMPLimits()
        limits.isProxy = { $0 == "192.0.2.9" }
        let admission = AdmissionController(limits: limits)
        #expect((0..<100).compactMap { _ in admission.admit(address: "192.0.2.9") }.count == 100)
    }

    @Test("reserves waiting slots for clients that published within the last hour")
    func publishers() throws {
        let clock = ManualClock()
        var limits = RTMPLimits()
        limits.preAuthConnections = 50
        let admission = AdmissionController(limits: limits, clock: clock)
        let host = try #require(admission.admit(address: "192.0.2.1"))
        host.beganPublishing()
        host.release()
        let clients = (0..<100).compactMap { admission.admit(address: "2001:db8:0:\(String($0, radix: 16))::1") }
        #expect(clients.count == 40)
        #expect(admission.admit(address: "192.0.2.2") == nil)
        let again = try #require(admission.admit(address: "192.0.2.1"))
        again.release()
        clock.advance(by: .seconds(3_601))
        #expect(admission.admit(address: "192.0.2.1") == nil)
        clients[0].release()
        #expect(admission.admit(address: "192.0.2.2") != nil)
    }

    @Test("limits players per client and viewers in total, exempts other players, and releases slots")
    func players() throws {
        var limits = RTMPLimits()
        limits.playersPerClient = 2
        let gate = ConnectionGate(limit: 100, viewers: 3)
        let admission = AdmissionController(limits: limits, gate: gate)
        func player(_ address: String) throws -> AdmissionController.Ticket {
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
        other.release()
        other.release()
        #expect(gate.viewers == 2 && admission.refused.players == 1)
        #expect(first[0].beganPlaying(isViewer: true))
    }

    @Test("limits the total number of connections")
    func total() {
        var limits = RTMPLimits()
        limits.connections = 3
        let admission = AdmissionController(limits: limits)
        let three = (0..<5).compactMap { admission.admit(address: "192.0.2.\($0)") }
        #expect(three.count == 3)
        three[0].release()
        #expect(admission.admit(address: "192.0.2.9") != nil)
    }
}

@Suite("Connection gate", .timeLimit(.minutes(1)))
struct ConnectionGateTests {
    /// Opens a listener behind the gate.
    private func listen(
        _ gate: ConnectionGate,
        _ purpose: ConnectionGate.Purpose,
        _ group: any EventLoopGroup
    ) async throws
        -> any Channel
    {
        try await ServerBootstrap(group: group)
            .serverChannelOption(.maxMessagesPerRead, value: 16)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ConnectionGateHandler(gate, for: purpose))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    private func connect(_ listener: any Channel, _ group: any EventLoopGroup) async throws -> any Channel {
        try await ClientBootstrap(group: group)
            .connect(to: try #require(listener.localAddress)).get()
    }

    @Test("closes connections beyond the limits and reserves capacity for other purposes than viewers")
    func full() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let gate = ConnectionGate(limit: 5, viewers: 3)
        let (http, rtmp) = (try await listen(gate, .viewers, group), try await listen(gate, .undecided, group))
        var viewers: [any Channel] = []
        for _ in 0..<50 { viewers.append(try await connect(http, group)) }
        #expect(try await eventually { viewers.count { $0.isActive } == 3 && gate.connections == 3 })
        #expect(gate.viewers == 3 && gate.refused == 47 && gate.isFull)
        var hosts: [any Channel] = []
        for _ in 0..<4 { hosts.append(try await connect(rtmp, group)) }
        #expect(try await eventually { hosts.count { $0.isActive } == 2 && gate.connections == 5 })
        for viewer in viewers { viewer.close(promise: nil) }
        #expect(try await eventually { gate.viewers == 0 && gate.connections == 2 })
        let next = try await connect(http, group)
        #expect(try await eventually { gate.viewers == 1 })
        #expect(next.isActive && !gate.isFull)
        gate.setClosed(true)
        let last = try await connect(rtmp, group)
        #expect(try await eventually { !last.isActive })
        for channel in hosts + [next, http, rtmp] { channel.close(promise: nil) }
        try await group.shutdownGracefully()
    }
}
