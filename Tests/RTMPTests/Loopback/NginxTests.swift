import Foundation
import Media
import NIOCore
import NIOPosix
import RTMP
import TestSupport
import Testing

/// The nginx installation of this machine.
private enum Nginx {
    static let modulePath = "/usr/lib/nginx/modules/ngx_rtmp_module.so"
    static let isInstalled =
        TestProcess.exists("ffmpeg") && FileManager.default.isExecutableFile(atPath: "/usr/sbin/nginx")
        && FileManager.default.fileExists(atPath: modulePath)
}

@Suite("Interoperability with nginx-rtmp", .enabled(if: TestRun.isFull), .enabled(if: Nginx.isInstalled), .serialized)
struct NginxTests {
    /// Returns a port that was free a moment ago.
    private func freePort(_ group: any EventLoopGroup) async throws -> Int {
        let channel = try await ServerBootstrap(group: group).bind(host: "127.0.0.1", port: 0).get()
        let port = channel.localAddress?.port ?? 0
        try await channel.close()
        return port
    }

    private func configuration(directory: String, port: Int, target: Int) -> String {
        """
        daemon off; master_process off; worker_processes 1;
        pid \(directory)/nginx.pid; error_log \(directory)/error.log info;
        load_module \(Nginx.modulePath);
        events { worker_connections 64; }
        rtmp { access_log off; server { listen 127.0.0.1:\(port); application live {
            live on; push rtmp://127.0.0.1:\(target)/live/sk_pushed;
        } } }
        """
    }

    @Test("receives a stream pushed by nginx, and our player plays one from nginx")
    func pushAndPlay() async throws {
        let relay = RelayDelegate()
        let directory = FileManager.default.temporaryDirectory.appending(path: "footlight-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try await withServer(relay) { server, group in
            let port = try await freePort(group)
            let file = directory.appending(path: "nginx.conf")
            try configuration(directory: directory.path, port: port, target: server.port)
                .write(to: file, atomically: true, encoding: .utf8)
            let nginx = try TestProcess("/usr/sbin/nginx", "-p", directory.path, "-c", file.path)
            defer { nginx.stop() }
            try await FreePort.waitUntilListening(port)
            let encoder = try TestProcess(
                "ffmpeg",
                "-hide_banner",
                "-loglevel",
                "error",
                "-re",
                "-f",
                "lavfi",
                "-i",
                "testsrc2=size=320x180:rate=25",
                "-f",
                "lavfi",
                "-i",
                "sine",
                "-t",
                "8",
                "-c:v",
                "libx264",
                "-preset",
                "veryfast",
                "-g",
                "25",
                "-c:a",
                "aac",
                "-f",
                "flv",
                "rtmp://127.0.0.1:\(port)/live/source"
            )
            defer { encoder.stop() }
            let pushed = await relay.packets.wait { $0.count(where: \.isVideo) > 40 }
            #expect(relay.publishes.values.map(\.name) == ["sk_pushed"])
            #expect(pushed.contains { $0.content == .videoConfiguration(.h264) })
            #expect(pushed.contains { $0.content == .audio(.aac) })

            let packets = ValueRecorder<MediaPacket>()
            let player = RTMPPlayer(
                url: "rtmp://127.0.0.1:\(port)/live/source",
                group: group,
                onPacket: { packet, _ in packets.append(packet) },
                onEnd: { _ in }
            )
            player.start()
            let played = await packets.wait { $0.count(where: \.isVideo) > 20 }
            player.stop()
            #expect(played.contains { $0.content == .videoConfiguration(.h264) })
            let known = Set(relay.packets.values.map { Array($0.body.readableBytesView) })
            #expect(
                played.filter(\.isVideo).dropLast(5).allSatisfy { known.contains(Array($0.body.readableBytesView)) }
            )
        }
    }

    @Test("publishes to nginx, which forwards the stream")
    func publish() async throws {
        let relay = RelayDelegate()
        let directory = FileManager.default.temporaryDirectory.appending(path: "footlight-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try await withServer(relay) { server, group in
            let port = try await freePort(group)
            let file = directory.appending(path: "nginx.conf")
            try configuration(directory: directory.path, port: port, target: server.port)
                .write(to: file, atomically: true, encoding: .utf8)
            let nginx = try TestProcess("/usr/sbin/nginx", "-p", directory.path, "-c", file.path)
            defer { nginx.stop() }
            try await FreePort.waitUntilListening(port)
            let source = QueuedPacketSource([.aacConfiguration(data: [0x11, 0x88], timestamp: 0)])
            let connection = RTMPPublishConnection(
                url: "rtmp://127.0.0.1:\(port)/live/source",
                source: source,
                group: group
            )
            connection.start()
            _ = await source.started.wait { !$0.isEmpty }
            // nginx starts to push with the first publisher and does not forward earlier packets.
            _ = await relay.publishes.wait { !$0.isEmpty }
            for index in 0..<50 {
                source.put(.aacFrame(data: [UInt8](repeating: UInt8(index), count: 64), timestamp: Int64(index) * 21))
                connection.wake()
                try await Task.sleep(for: .milliseconds(10))
            }
            connection.finish()
            #expect(await source.ends.wait { !$0.isEmpty }.map(\.isFinished) == [true])
            let audio = await relay.packets.wait { $0.count { $0.content == .audio(.aac) } > 40 }
                .filter { $0.content == .audio(.aac) }
            #expect(audio.count > 40)
            let known = Set((0..<50).map { [0xAF, 1] + [UInt8](repeating: UInt8($0), count: 64) })
            #expect(audio.allSatisfy { known.contains($0.bytes) })
        }
    }
}
