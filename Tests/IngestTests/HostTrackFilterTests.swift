@testable import Ingest
import Media
import NIOCore
import Stage
import Testing

@Suite("Host track filter")
final class HostTrackFilterTests {
    private var media = HostTrackFilter(.camera)

    private static let videoConfiguration = AVCRecord().packet
    private static let audioConfiguration = MediaPacket.aacConfiguration(ByteBuffer(bytes: [0x11, 0x90]), timestamp: 0)

    private static func videoFrame(_ timestamp: Int64, isKey: Bool = false) -> MediaPacket {
        .h264Frame(isKey: isKey, isDisposable: false, timestamp: timestamp, compositionOffset: 0, capacity: 6) {
            $0.writeBytes([0, 0, 0, 2, isKey ? 0x65 : 0x41, 0x88])
        }
    }

    private static func audioFrame(_ timestamp: Int64) -> MediaPacket {
        .aacFrame(timestamp: timestamp, capacity: 2) { $0.writeBytes([1, 2]) }
    }

    /// Returns the forwarded packets as their kinds and times.
    private func admit(_ packets: MediaPacket..., open: Set<TrackName> = Set(TrackName.allCases)) -> [String] {
        var passed: [String] = []
        for packet in packets {
            media.admit(packet, isOpen: { open.contains($0) }, pass: { passed.append(Self.name($0)) })
        }
        return passed
    }

    private static func name(_ packet: MediaPacket) -> String {
        switch packet.content {
        case .metadata: "metadata"
        case .videoConfiguration: "video \(packet.timestamp)"
        case .video(_, let isKey, _): (isKey ? "key " : "frame ") + "\(packet.timestamp)"
        case .videoEnd: "end"
        case .audioConfiguration: "audio \(packet.timestamp)"
        case .audio: "aac \(packet.timestamp)"
        }
    }

    @Test("T3b forwards open tracks unchanged")
    func open() {
        let out = admit(
            Self.videoConfiguration,
            Self.audioConfiguration,
            Self.videoFrame(0, isKey: true),
            Self.audioFrame(10),
            Self.videoFrame(33)
        )
        #expect(out == ["video 0", "audio 0", "key 0", "aac 10", "frame 33"])
        #expect(media.droppedVideoFrames == 0 && media.droppedAudioFrames == 0)
    }

    @Test("T3b drops the packets of a closed track and forwards the other one")
    func oneTrack() {
        _ = admit(Self.videoConfiguration, Self.audioConfiguration, Self.videoFrame(0, isKey: true))
        #expect(admit(Self.audioFrame(10), Self.videoFrame(33), open: [.camera]) == ["frame 33"])
        #expect(admit(Self.audioFrame(20), Self.videoFrame(66), open: [.mic]) == ["aac 20"])
        #expect(media.droppedVideoFrames == 1 && media.droppedAudioFrames == 1)
    }

    @Test("T3b resumes video at a keyframe and audio immediately")
    func backAgain() {
        _ = admit(Self.videoConfiguration, Self.audioConfiguration, Self.videoFrame(0, isKey: true), Self.audioFrame(0))
        #expect(admit(Self.videoFrame(33), Self.audioFrame(20), open: []).isEmpty)
        #expect(admit(Self.videoFrame(66), Self.audioFrame(40)) == ["aac 40"])
        #expect(admit(Self.videoFrame(99, isKey: true), Self.videoFrame(132)) == ["key 99", "frame 132"])
        #expect(media.droppedVideoFrames == 2 && media.droppedAudioFrames == 1)
    }

    @Test("sends a configuration received while closed once, with the time of the next packet")
    func delayedConfiguration() {
        #expect(admit(Self.videoConfiguration, Self.audioConfiguration, open: []).isEmpty)
        #expect(admit(Self.audioFrame(20), Self.audioFrame(41)) == ["audio 20", "aac 20", "aac 41"])
        #expect(admit(Self.videoFrame(99, isKey: true), Self.videoFrame(132)) == ["video 99", "key 99", "frame 132"])
    }

    @Test("sends only a changed configuration after reopening")
    func repeated() {
        _ = admit(Self.videoConfiguration, Self.videoFrame(0, isKey: true))
        _ = admit(Self.videoConfiguration, Self.videoFrame(33), open: [])
        #expect(admit(Self.videoFrame(66, isKey: true)) == ["key 66"])
        _ = admit(AVCRecord(width: 320, height: 192).packet, Self.videoFrame(99), open: [])
        #expect(admit(Self.videoFrame(132, isKey: true)) == ["video 132", "key 132"])
        // A changed and reverted configuration is sent, since the decoder has the one in between.
        _ = admit(Self.videoConfiguration, AVCRecord(width: 320, height: 192).packet, open: [])
        #expect(admit(Self.videoFrame(166, isKey: true)) == ["video 166", "key 166"])
    }

    @Test("forwards only the screen track of a screen share and drops its audio")
    func screen() {
        media = HostTrackFilter(.screen)
        let out = admit(
            Self.videoConfiguration,
            Self.audioConfiguration,
            Self.videoFrame(0, isKey: true),
            Self.audioFrame(10),
            open: [.screen]
        )
        #expect(out == ["video 0", "key 0"])
        #expect(admit(Self.videoFrame(33), open: [.mic, .camera]).isEmpty)
        #expect(media.droppedAudioFrames == 1)
    }
}
