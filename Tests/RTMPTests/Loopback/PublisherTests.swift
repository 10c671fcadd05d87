import Foundation
import Media
import NIOCore
import NIOPosix
import NIOSSL
import RTMP
import Testing

@Suite("A publishing connection on loopback", .serialized)
struct PublisherTests {
    private func media(_ count: Int) -> [MediaPacket] {
        (0..<count).map { .aacFrame(data: [UInt8](repeating: UInt8($0 % 250), count: 40), timestamp: Int64($0) * 21) }
    }

    private func connect(
        to port: Int,
        _ shelf: PacketShelf,
        scheme: String = "rtmp",
        trust: RTMPTrust = .system,
        group: MultiThreadedEventLoopGroup
    ) -> RTMPPublishConnection {
        let connection = RTMPPublishConnection(
            url: "\(scheme)://127.0.0.1:\(port)/live/sk_key",
            trust: trust,
            source: shelf,
            group: group
        )
        connection.start()
        return connection
    }

    @Test("What waits is published, what comes is too when it is woken, and the farewell comes last")
    func publishes() async throws {
        let relay = Relay()
        try await withServer(relay) { server, group in
            let packets = media(60)
            let shelf = PacketShelf(Array(packets[..<50]))
            let connection = connect(to: server.port, shelf, group: group)
            _ = await relay.packets.wait { $0.count == 50 }
            for packet in packets[50...] { shelf.put(packet) }
            connection.finish()
            let ends = await shelf.ends.wait { !$0.isEmpty }
            // Its own end is when all has left; the server's is when all has come.
            #expect(await relay.ended.wait { !$0.isEmpty } == [.deletedStream])
            #expect(relay.publishes.values.map(\.name) == ["sk_key"])
            #expect(relay.packets.values.map(\.bytes) == packets.map(\.bytes))
            #expect(relay.packets.values.map(\.timestamp) == packets.map(\.timestamp))
            #expect(ends.map(\.isFinished) == [true] && shelf.started.values == [true])
            #expect(shelf.bytes.values.reduce(0, +) > 60 * 40)
        }
    }

    @Test("A refused key is final; no server, a server's shutdown, and no address are told apart")
    func ends() async throws {
        try await withServer(Relay(refusal: .publishBadName("No such key."))) { server, group in
            let shelf = PacketShelf()
            let connection = connect(to: server.port, shelf, group: group)
            let end = try #require(await shelf.ends.wait { !$0.isEmpty }.first)
            #expect(end.isFinal && end.reason.contains("No such key.") && !end.isFinished)
            connection.finish()
        }
        let (gone, stopped) = (PacketShelf(), PacketShelf())
        let group = MultiThreadedEventLoopGroup.singleton
        let server = try await RTMPServer.start(host: "127.0.0.1", port: 0, group: group, delegate: Relay())
        let port = server.port
        _ = connect(to: port, stopped, group: group)
        _ = await stopped.started.wait { !$0.isEmpty }
        await server.shutdown()
        let end = try #require(await stopped.ends.wait { !$0.isEmpty }.first)
        #expect(!end.isFinal && !end.isFinished)
        _ = connect(to: port, gone, group: group)
        #expect(try #require(await gone.ends.wait { !$0.isEmpty }.first).isFinal == false)
        let nowhere = PacketShelf()
        RTMPPublishConnection(url: "http://h/a/b", source: nowhere, group: group).start()
        #expect(try #require(await nowhere.ends.wait { !$0.isEmpty }.first).isFinal)
    }

    @Test("Finished before or while it connects, it tells its end once")
    func finishedEarly() async throws {
        let relay = Relay()
        try await withServer(relay) { server, group in
            let shelf = PacketShelf()
            let connection = RTMPPublishConnection(
                url: "rtmp://127.0.0.1:\(server.port)/live/a",
                source: shelf,
                group: group
            )
            connection.finish()
            try await Task.sleep(for: .milliseconds(30))
            #expect(shelf.ends.values.isEmpty, "nothing was started")
            connection.start()
            #expect(await shelf.ends.wait { !$0.isEmpty }.map(\.isFinished) == [true])
            let other = PacketShelf()
            connect(to: server.port, other, group: group).finish()
            #expect(await other.ends.wait { !$0.isEmpty }.map(\.isFinished) == [true])
        }
    }

    @Test("RTMPS: a server with a certificate of its own is believed when it is named, and not otherwise")
    func secure() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "footlight-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let (key, certificate) = (directory.path + "/key.pem", directory.path + "/certificate.pem")
        let made = try ChildProcess(
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
            "-keyout",
            key,
            "-out",
            certificate
        ).finish()
        try #require(made.status == 0)
        let tls = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
                privateKey: .privateKey(NIOSSLPrivateKey(file: key, format: .pem))
            )
        )
        let relay = Relay()
        try await withServer(relay, tls: tls) { server, group in
            let packets = media(20)
            let shelf = PacketShelf(packets)
            let trust = RTMPTrust.certificates(path: certificate)
            let connection = connect(to: server.port, shelf, scheme: "rtmps", trust: trust, group: group)
            let received = await relay.packets.wait { $0.count == 20 }
            #expect(received.map(\.bytes) == packets.map(\.bytes))
            connection.finish()
            _ = await shelf.ends.wait { !$0.isEmpty }

            let doubting = PacketShelf(packets)
            _ = connect(to: server.port, doubting, scheme: "rtmps", group: group)
            let end = try #require(await doubting.ends.wait { !$0.isEmpty }.first)
            #expect(!end.isFinished && doubting.count == 20)
            #expect(relay.publishes.values.count == 1)
        }
    }
}
