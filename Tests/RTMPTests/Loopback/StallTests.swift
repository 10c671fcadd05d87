import Media
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import RTMP

/// One host whose media is played to everybody, and other publishers whose media goes nowhere.
private final class Program: RTMPServerDelegate {
    private let viewers = Mutex<[RTMPConnection]>([])
    let sounds = Atomic<Int>(0)

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
                program.sounds.add(1, ordering: .relaxed)
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

/// The longest time between two packets of a viewer.
private final class Gap: Sendable {
    private let state = Mutex((last: MonotonicTime.now(), longest: 0.0, packets: 0))

    func received(at now: MonotonicTime) {
        state.withLock { state in
            state.longest = max(state.longest, now.seconds(since: state.last))
            state.last = now
            state.packets += 1
        }
    }

    var packets: Int { state.withLock { $0.packets } }

    /// Seconds since the last call.
    func takeLongest() -> Double {
        state.withLock { state in
            defer { state.longest = 0 }
            return max(state.longest, MonotonicTime.now().seconds(since: state.last))
        }
    }
}

@Suite("A crowd of peers that flood the server", .serialized)
struct StallTests {
    /// Bytes to play or publish, and a flood behind them.
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

    @Test("takes nothing from a viewer on the same event loop: no gap of 50 ms beyond those it had before")
    func viewerGap() async throws {
        let serverGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let clients = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let program = Program()
        let server = try await RTMPServer.start(host: "127.0.0.1", port: 0, group: serverGroup, delegate: program)
        let host = try await RawPeer(port: server.port, group: clients)
        try await host.send(Peer.publishing("host").bytes)
        let gap = Gap()
        let probe = RTMPPlayer(
            url: "rtmp://127.0.0.1:\(server.port)/live/probe",
            group: clients,
            onPacket: { _, now in gap.received(at: now) },
            onEnd: { _ in }
        )
        probe.start()
        let sending = Task {
            var time: UInt32 = 0
            while !Task.isCancelled {
                var picture = Peer()
                picture.picture(time, isKey: true)
                try await host.send(picture.bytes)
                time += 10
                try await Task.sleep(for: .milliseconds(10))
            }
        }
        while gap.packets < 10 { try await Task.sleep(for: .milliseconds(10)) }
        _ = gap.takeLongest()
        try await Task.sleep(for: .seconds(3))
        let quiet = gap.takeLongest()

        // Players, whose aggregates end their connections.
        var players: [RawPeer] = []
        for _ in 0..<4 {
            let player = try await RawPeer(port: server.port, group: clients)
            players.append(player)
            try? await player.send(flood(from: .playing(), commands, times: 1))
        }
        for player in players { #expect(await player.isClosed(within: 10)) }
        let duringPlayers = gap.takeLongest()

        // Publishers, who may send aggregates: of 100,000 sounds each, and commands that are answered.
        let sounds = Peer.aggregate(of: 8, ByteBuffer(bytes: [0xAF, 1, 9]), bytes: 1 << 20)
        var asking = Peer.publishing("asking")
        for number in 0..<10_000 { asking.command("FCSubscribe", Double(number), .null) }
        var publishers: [RawPeer] = []
        for _ in 0..<2 {
            let publisher = try await RawPeer(port: server.port, group: clients)
            publishers.append(publisher)
            try await publisher.send(flood(from: .publishing("loud"), sounds, times: 2))
            let other = try await RawPeer(port: server.port, group: clients)
            publishers.append(other)
            try await other.send(asking.bytes)
        }
        let expected = 4 * ((1 << 20) / 18)
        let deadline = MonotonicTime.now().advanced(seconds: 60)
        while program.sounds.load(ordering: .relaxed) < expected, MonotonicTime.now() < deadline {
            try await Task.sleep(for: .milliseconds(20))
        }
        let duringPublishers = gap.takeLongest()
        #expect(program.sounds.load(ordering: .relaxed) == expected)
        let granted = max(0.05, 3 * quiet)
        let figures = "quiet \(quiet) s, players \(duringPlayers) s, publishers \(duringPublishers) s"
        print("longest gap of a viewer:", figures)
        #expect(duringPlayers < granted, "\(figures)")
        #expect(duringPublishers < granted, "\(figures)")
        sending.cancel()
        probe.stop()
        await server.shutdown()
        try await clients.shutdownGracefully()
        try await serverGroup.shutdownGracefully()
    }
}
