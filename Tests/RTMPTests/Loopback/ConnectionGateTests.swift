import NIOCore
import NIOPosix
@testable import RTMP
import Testing

@Suite("The gate of listeners", .timeLimit(.minutes(1)))
struct ConnectionGateTests {
    /// A listener that counts what reaches those behind the gate.
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

    private func eventually(_ isTrue: () -> Bool) async throws -> Bool {
        for _ in 0..<300 where !isTrue() { try await Task.sleep(for: .milliseconds(10)) }
        return isTrue()
    }

    @Test("Connections without room are closed at once; viewers by HTTP leave the rest to others")
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
        gate.shut(true)
        let last = try await connect(rtmp, group)
        #expect(try await eventually { !last.isActive })
        for channel in hosts + [next, http, rtmp] { channel.close(promise: nil) }
        try await group.shutdownGracefully()
    }
}
