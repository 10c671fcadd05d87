import Media
import NIOCore
import NIOPosix
import RTMP
import TestSupport
import Testing

@Suite("RTMP publish connection", .serialized)
struct PublisherTests {
    private func media(_ count: Int) -> [MediaPacket] {
        (0..<count).map { .aacFrame(data: [UInt8](repeating: UInt8($0 % 250), count: 40), timestamp: Int64($0) * 21) }
    }

    private func connect(
        to port: Int,
        _ source: QueuedPacketSource,
        scheme: String = "rtmp",
        trust: RTMPTrustRoots = .system,
        group: MultiThreadedEventLoopGroup
    ) -> RTMPPublishConnection {
        let connection = RTMPPublishConnection(
            url: "\(scheme)://127.0.0.1:\(port)/live/sk_key",
            trust: trust,
            source: source,
            group: group
        )
        connection.start()
        return connection
    }

    @Test("publishes waiting packets and those added before finish, then unpublishes")
    func publishes() async throws {
        let relay = RelayDelegate()
        try await withServer(relay) { server, group in
            let packets = media(60)
            let source = QueuedPacketSource(Array(packets[..<50]))
            let connection = connect(to: server.port, source, group: group)
            _ = await relay.packets.wait { $0.count == 50 }
            for packet in packets[50...] { source.put(packet) }
            connection.finish()
            let ends = await source.ends.wait { !$0.isEmpty }
            // The client's end follows its last write; the server's follows the last packet.
            #expect(await relay.ended.wait { !$0.isEmpty } == [.deletedStream])
            #expect(relay.publishes.values.map(\.name) == ["sk_key"])
            #expect(relay.packets.values.map(\.bytes) == packets.map(\.bytes))
            #expect(relay.packets.values.map(\.timestamp) == packets.map(\.timestamp))
            #expect(ends.map(\.isFinished) == [true] && source.started.values == [true])
            #expect(source.bytes.values.reduce(0, +) > 60 * 40)
        }
    }

    @Test("reports a final end for a refused key and an invalid address, and a temporary one otherwise")
    func ends() async throws {
        try await withServer(RelayDelegate(refusal: .publishBadName("No such key."))) { server, group in
            let source = QueuedPacketSource()
            let connection = connect(to: server.port, source, group: group)
            let end = try #require(await source.ends.wait { !$0.isEmpty }.first)
            #expect(end.isFinal && end.reason.contains("No such key.") && !end.isFinished)
            connection.finish()
        }
        let (gone, stopped) = (QueuedPacketSource(), QueuedPacketSource())
        let group = MultiThreadedEventLoopGroup.singleton
        let server = try await RTMPServer.start(host: "127.0.0.1", port: 0, group: group, delegate: RelayDelegate())
        let port = server.port
        _ = connect(to: port, stopped, group: group)
        _ = await stopped.started.wait { !$0.isEmpty }
        await server.shutdown()
        let end = try #require(await stopped.ends.wait { !$0.isEmpty }.first)
        #expect(!end.isFinal && !end.isFinished)
        _ = connect(to: port, gone, group: group)
        #expect(try #require(await gone.ends.wait { !$0.isEmpty }.first).isFinal == false)
        let invalid = QueuedPacketSource()
        RTMPPublishConnection(url: "http://h/a/b", source: invalid, group: group).start()
        #expect(try #require(await invalid.ends.wait { !$0.isEmpty }.first).isFinal)
    }

    @Test("reports its end once when finished before or while connecting")
    func finishedEarly() async throws {
        let relay = RelayDelegate()
        try await withServer(relay) { server, group in
            let source = QueuedPacketSource()
            let connection = RTMPPublishConnection(
                url: "rtmp://127.0.0.1:\(server.port)/live/a",
                source: source,
                group: group
            )
            connection.finish()
            try await Task.sleep(for: .milliseconds(30))
            #expect(source.ends.values.isEmpty, "not started yet")
            connection.start()
            #expect(await source.ends.wait { !$0.isEmpty }.map(\.isFinished) == [true])
            let other = QueuedPacketSource()
            connect(to: server.port, other, group: group).finish()
            #expect(await other.ends.wait { !$0.isEmpty }.map(\.isFinished) == [true])
        }
    }

    @Test("accepts a self-signed RTMPS certificate only if it is configured as trusted")
    func secure() async throws {
        let folder = try TemporaryFolder("rtmps")
        let certificates = try await TestCertificates(in: folder.path)
        try await certificates.selfSigned("server", for: "localhost")
        let tls = try certificates.context(of: "server")
        let relay = RelayDelegate()
        try await withServer(relay, tls: tls) { server, group in
            let packets = media(20)
            let source = QueuedPacketSource(packets)
            let trust = RTMPTrustRoots.certificates(path: certificates.path("server.pem"))
            let connection = connect(to: server.port, source, scheme: "rtmps", trust: trust, group: group)
            let received = await relay.packets.wait { $0.count == 20 }
            #expect(received.map(\.bytes) == packets.map(\.bytes))
            connection.finish()
            _ = await source.ends.wait { !$0.isEmpty }

            let distrusting = QueuedPacketSource(packets)
            _ = connect(to: server.port, distrusting, scheme: "rtmps", group: group)
            let end = try #require(await distrusting.ends.wait { !$0.isEmpty }.first)
            #expect(!end.isFinished && distrusting.count == 20)
            #expect(relay.publishes.values.count == 1)
        }
    }
}
