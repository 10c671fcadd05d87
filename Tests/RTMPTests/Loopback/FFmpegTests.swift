import Foundation
import Media
import NIOCore
import RTMP
import TestSupport
import Testing

@Suite(
    "Interoperability with FFmpeg and rtmpdump",
    .enabled(if: TestRun.isFull),
    .enabled(if: TestProcess.exists("ffmpeg")),
    .serialized
)
struct FFmpegTests {
    /// Publishes video with B-frames and a tone in real time.
    private func publish(to port: Int, seconds: Int) throws -> TestProcess {
        try TestProcess(
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
            "sine=frequency=440:sample_rate=44100",
            "-t",
            "\(seconds)",
            "-c:v",
            "libx264",
            "-preset",
            "veryfast",
            "-bf",
            "2",
            "-g",
            "25",
            "-b:v",
            "300k",
            "-c:a",
            "aac",
            "-b:a",
            "64k",
            "-f",
            "flv",
            "rtmp://127.0.0.1:\(port)/live/sk_test?token=a%20b"
        )
    }

    @Test("relays a stream from ffmpeg unchanged to ffprobe, rtmpdump and our player")
    func publishAndPlay() async throws {
        let relay = RelayDelegate(sid: "v-1")
        try await withServer(relay) { server, group in
            let encoder = try publish(to: server.port, seconds: 6)
            defer { encoder.stop() }
            let first = await relay.packets.wait { $0.count(where: \.isVideo) > 20 }
            #expect(first.contains { $0.content == .metadata })
            #expect(first.contains { $0.content == .videoConfiguration(.h264) })
            #expect(first.contains { $0.content == .audioConfiguration(.aac) })
            #expect(first.contains { $0.compositionOffset > 0 })
            let request = try #require(relay.publishes.values.first)
            #expect(request.app == "live")
            #expect(request.name == "sk_test")
            #expect(request.query == ["token": "a b"])
            #expect(request.remoteAddress == "127.0.0.1")

            let url = "rtmp://127.0.0.1:\(server.port)/live/room"
            let dump = FileManager.default.temporaryDirectory.appending(path: "footlight-\(UUID().uuidString).flv")
            defer { try? FileManager.default.removeItem(at: dump) }
            let probe = try TestProcess(
                "ffprobe",
                "-v",
                "error",
                "-show_entries",
                "stream=codec_name,width,sample_rate:packet=stream_index",
                "-of",
                "compact",
                url
            )
            let dumper = try TestProcess("rtmpdump", "-q", "-v", "-r", url, "-o", dump.path)
            let packets = ValueRecorder<MediaPacket>()
            let ends = ValueRecorder<String>()
            let player = RTMPPlayer(url: url, group: group, onPacket: { packet, _ in packets.append(packet) }) {
                ends.append($0)
            }
            player.start()
            _ = await relay.plays.wait { $0.count == 3 }

            let played = await packets.wait { $0.count(where: \.isVideo) > 50 }
            #expect(played.first?.isConfiguration == true)
            #expect(played.count > 100)
            #expect(await ends.wait { !$0.isEmpty }.map { $0.prefix(31) } == ["NetStream.Play.UnpublishNotify:"])

            let probed = probe.finish().output
            #expect(probed.contains("codec_name=h264|width=320"))
            #expect(probed.contains("codec_name=aac|sample_rate=44100"))
            #expect(probed.split(separator: "\n").count(where: { $0.hasPrefix("packet|") }) > 100)
            #expect(probed.split(separator: "\n").count(where: { $0.hasPrefix("stream|") }) == 2)

            _ = dumper.finish()
            let source = Set(relay.packets.values.map { Array($0.body.readableBytesView) })
            #expect(packets.values.allSatisfy { source.contains(Array($0.body.readableBytesView)) })
            var reader = FLVReader()
            reader.append(ByteBuffer(bytes: try Data(contentsOf: dump)))
            var dumped: [MediaPacket] = []
            while let packet = try reader.next() { dumped.append(packet) }
            #expect(dumped.count(where: \.isVideo) > 50)
            #expect(dumped.filter(\.isVideo).allSatisfy { source.contains(Array($0.body.readableBytesView)) })
        }
        #expect(relay.ended.values.contains(.deletedStream))
    }

    @Test("accepts an RTMPS publish from ffmpeg", .enabled(if: TestProcess.exists("openssl")))
    func publishSecurely() async throws {
        let folder = try TemporaryFolder("rtmps")
        let certificates = try await TestCertificates(in: folder.path)
        try await certificates.issue("server", for: "localhost")
        let tls = try certificates.context(of: "server")
        let relay = RelayDelegate(refusal: .publishBadName("No such key."))
        try await withServer(relay, tls: tls) { server, _ in
            let encoder = try TestProcess(
                "ffmpeg",
                "-hide_banner",
                "-loglevel",
                "error",
                "-re",
                "-f",
                "lavfi",
                "-i",
                "testsrc2=size=64x64:rate=5",
                "-t",
                "3",
                "-c:v",
                "libx264",
                "-f",
                "flv",
                "rtmps://127.0.0.1:\(server.port)/live/sk_secret"
            )
            let end = encoder.finish(seconds: 15)
            #expect(relay.publishes.values.map(\.name) == ["sk_secret"])
            #expect(end.status != 0)
            #expect(end.output.contains("No such key."))
        }
    }
}
