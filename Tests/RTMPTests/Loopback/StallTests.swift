import FootlightTesting
import Glibc
import Media
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import RTMP

/// Plays one host's media to all viewers and discards that of other publishers.
private final class Program: RTMPServerDelegate {
    private let viewers = Mutex<[RTMPConnection]>([])
    let audioPackets = Atomic<Int>(0)

    func publish(_ request: PublishRequest, on connection: RTMPConnection) -> EventLoopFuture<PublishVerdict> {
        connection.eventLoop.makeSucceededFuture(.accept(Host(program: self, isOnAir: request.name == "host")))
    }

    func play(_ request: PlayRequest, on connection: RTMPConnection) -> EventLoopFuture<PlayVerdict> {
        connection.eventLoop.makeSucceededFuture(.accept(Viewer(program: self, isProbe: request.name == "probe")))
    }

    private final class Host: PublishReceiver {
        private let program: Program
        private let isOnAir: Bool

        init(program: Program, isOnAir: Bool) {
            self.program = program
            self.isOnAir = isOnAir
        }

        func receive(_ packet: MediaPacket) throws(RTMPStatus) {
            guard isOnAir else {
                program.audioPackets.add(1, ordering: .relaxed)
                return
            }
            var chunks = ByteBuffer()
            ViewerChunks.write(packet, to: &chunks)
            for viewer in program.viewers.withLock({ $0 }) { viewer.media.send(chunks) }
        }

        func ended(_ reason: RTMPEndReason) {}
    }

    private final class Viewer: PlayReceiver {
        private let program: Program
        private let isProbe: Bool

        init(program: Program, isProbe: Bool) {
            self.program = program
            self.isProbe = isProbe
        }

        func started(on connection: RTMPConnection) {
            if isProbe { program.viewers.withLock { $0.append(connection) } }
        }

        func ended(_ reason: RTMPEndReason) {}
    }
}

/// Measures the longest step of a clock between consecutive samples.
private final class LongestStep: Sendable {
    private let state = Mutex((last: 0.0, longest: 0.0, moments: 0))

    func reached(_ seconds: Double) {
        state.withLock { state in
            if state.moments > 0 { state.longest = max(state.longest, seconds - state.last) }
            state.last = seconds
            state.moments += 1
        }
    }

    var moments: Int { state.withLock { $0.moments } }

    /// Returns the longest step in seconds since the last call.
    func reset() -> Double {
        state.withLock { state in
            defer { state.longest = 0 }
            return state.longest
        }
    }
}

@Suite("Fairness between flooding peers and others", .enabled(if: TestRun.isFull), .serialized)
struct StallTests {
    /// Returns the bytes of a peer followed by large aggregates.
    private func flood(from first: Peer, _ body: ByteBuffer, times: Int) -> ByteBuffer {
        var peer = first
        peer.setChunkSize(4 << 20)
        for _ in 0..<times { peer.message(22, body, streamID: 1) }
        return peer.bytes
    }

    private var commands: ByteBuffer {
        var call = ByteBuffer()
        call.writeAMF0(["connect", .null, .object(["app": "a"])])
        return Peer.aggregate(of: 20, call, bytes: (4 << 20) - 100)
    }

    /// The longest interruption of a viewer in seconds.
    ///
    /// `gap` is the longest time without a packet, and `work` the longest CPU time of the event loop between two timer
    /// ticks. The gap is longer if other processes used the processor.
    private struct Stall: CustomStringConvertible {
        let gap: Double
        let work: Double

        var description: String { "gap \(Int(gap * 1e4) / 10) ms, work \(Int(work * 1e4) / 10) ms" }
    }

    @Test("discards the remaining input of peers that have disconnected", .timeLimit(.minutes(1)))
    func disconnectedPeers() async throws {
        let serverGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let clients = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let program = Program()
        let server = try await RTMPServer.start(host: "127.0.0.1", port: 0, group: serverGroup, delegate: program)
        for _ in 0..<40 {
            let peer = try await RawPeer(port: server.port, group: clients)
            // Messages of one byte: each has a type-3 header and no payload.
            var bytes = Peer.connected().bytes
            bytes.writeBytes([6, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0])
            bytes.writeRepeatingByte(0xC6, count: 60_000)
            try await peer.send(bytes)
            try await peer.close()
        }
        #expect(try await eventually { server.connectionCount == 0 })
        // At most one turn of each peer's thousand is processed.
        let loop = serverGroup.next()
        let isEmpty = try await eventually(within: .seconds(3)) {
            try await loop.submit { TurnScheduler.current(of: loop).count }.get() == 0
        }
        #expect(isEmpty)
        await server.shutdown()
        try await clients.shutdownGracefully()
        try await serverGroup.shutdownGracefully()
    }

    @Test("keeps event loop turns below 50 ms for other viewers")
    func viewerGap() async throws {
        let serverGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let clients = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let program = Program()
        let server = try await RTMPServer.start(host: "127.0.0.1", port: 0, group: serverGroup, delegate: program)
        let host = try await RawPeer(port: server.port, group: clients)
        try await host.send(Peer.publishing("host").bytes)
        let gap = LongestStep()
        let work = LongestStep()
        func stall() -> Stall { Stall(gap: gap.reset(), work: work.reset()) }
        let period = TimeAmount.milliseconds(5)
        let watch = serverGroup.next().scheduleRepeatedTask(initialDelay: period, delay: period) { _ in
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            work.reached(Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
        }
        defer { watch.cancel() }
        let probe = RTMPPlayer(
            url: "rtmp://127.0.0.1:\(server.port)/live/probe",
            group: clients,
            onPacket: { _, now in gap.reached(Double(now.nanoseconds) / 1e9) },
            onEnd: { _ in }
        )
        probe.start()
        let sending = Task {
            var time: UInt32 = 0
            while !Task.isCancelled {
                var frame = Peer()
                frame.video(time, isKey: true)
                try await host.send(frame.bytes)
                time += 10
                try await Task.sleep(for: .milliseconds(10))
            }
        }
        while gap.moments < 10 { try await Task.sleep(for: .milliseconds(10)) }
        _ = stall()
        try await Task.sleep(for: .seconds(3))
        let quiet = stall()

        // Players, whose aggregates end their connections.
        var players: [RawPeer] = []
        for _ in 0..<4 {
            let player = try await RawPeer(port: server.port, group: clients)
            players.append(player)
            try? await player.send(flood(from: .playing(), commands, times: 1))
        }
        for player in players { #expect(await player.isClosed(within: 10)) }
        let duringPlayers = stall()

        // Publishers, who may send aggregates: 100,000 audio messages each, and commands that require responses.
        let audio = Peer.aggregate(of: 8, ByteBuffer(bytes: [0xAF, 1, 9]), bytes: 1 << 20)
        var asking = Peer.publishing("asking")
        for number in 0..<10_000 { asking.command("FCSubscribe", Double(number), .null) }
        var publishers: [RawPeer] = []
        for _ in 0..<2 {
            let publisher = try await RawPeer(port: server.port, group: clients)
            publishers.append(publisher)
            try await publisher.send(flood(from: .publishing("loud"), audio, times: 2))
            let other = try await RawPeer(port: server.port, group: clients)
            publishers.append(other)
            try await other.send(asking.bytes)
        }
        let expected = 4 * ((1 << 20) / 18)
        let deadline = MonotonicTime.now().advanced(seconds: 60)
        while program.audioPackets.load(ordering: .relaxed) < expected, MonotonicTime.now() < deadline {
            try await Task.sleep(for: .milliseconds(20))
        }
        let duringPublishers = stall()
        #expect(program.audioPackets.load(ordering: .relaxed) == expected)
        print("quiet: \(quiet); players: \(duringPlayers); publishers: \(duringPublishers)")
        #expect(duringPlayers.work < 0.05, "\(duringPlayers)")
        #expect(duringPublishers.work < 0.05, "\(duringPublishers)")
        sending.cancel()
        probe.stop()
        await server.shutdown()
        try await clients.shutdownGracefully()
        try await serverGroup.shutdownGracefully()
    }
}
