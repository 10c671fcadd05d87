@testable import Ingest
import Media
import NIOCore
import Stage
import Testing

@Suite("The gate for a host's tracks")
final class GatedMediaTests {
    private var media = GatedMedia(.camera)

    private static let videoConfiguration = AVCRecord().packet
    private static let audioConfiguration = MediaPacket.aacConfiguration(ByteBuffer(bytes: [0x11, 0x90]), timestamp: 0)

    private static func picture(_ timestamp: Int64, isKey: Bool = false) -> MediaPacket {
        .h264Picture(isKey: isKey, isDisposable: false, timestamp: timestamp, compositionOffset: 0, capacity: 6) {
            $0.writeBytes([0, 0, 0, 2, isKey ? 0x65 : 0x41, 0x88])
        }
    }

    private static func sound(_ timestamp: Int64) -> MediaPacket {
        .aacFrame(timestamp: timestamp, capacity: 2) { $0.writeBytes([1, 2]) }
    }

    /// What comes out of the gate, as kinds with their times.
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
        case .picture(_, let isKey, _): (isKey ? "key " : "picture ") + "\(packet.timestamp)"
        case .videoEnd: "end"
        case .audioConfiguration: "audio \(packet.timestamp)"
        case .sound: "sound \(packet.timestamp)"
        }
    }

    @Test("T3b Open tracks pass as they are")
    func open() {
        let out = admit(
            Self.videoConfiguration,
            Self.audioConfiguration,
            Self.picture(0, isKey: true),
            Self.sound(10),
            Self.picture(33)
        )
        #expect(out == ["video 0", "audio 0", "key 0", "sound 10", "picture 33"])
        #expect(media.droppedPictures == 0 && media.droppedSounds == 0)
    }

    @Test("T3b A disabled microphone is silent and its camera is not, and the other way round")
    func oneTrack() {
        _ = admit(Self.videoConfiguration, Self.audioConfiguration, Self.picture(0, isKey: true))
        #expect(admit(Self.sound(10), Self.picture(33), open: [.camera]) == ["picture 33"])
        #expect(admit(Self.sound(20), Self.picture(66), open: [.mic]) == ["sound 20"])
        #expect(media.droppedPictures == 1 && media.droppedSounds == 1)
    }

    @Test("T3b A camera that is back begins at a key picture, a microphone at once")
    func backAgain() {
        _ = admit(Self.videoConfiguration, Self.audioConfiguration, Self.picture(0, isKey: true), Self.sound(0))
        #expect(admit(Self.picture(33), Self.sound(20), open: []).isEmpty)
        #expect(admit(Self.picture(66), Self.sound(40)) == ["sound 40"])
        #expect(admit(Self.picture(99, isKey: true), Self.picture(132)) == ["key 99", "picture 132"])
        #expect(media.droppedPictures == 2 && media.droppedSounds == 1)
    }

    @Test("A configuration that came while its track was closed is made up for, once, with the time of what follows")
    func madeUp() {
        #expect(admit(Self.videoConfiguration, Self.audioConfiguration, open: []).isEmpty)
        #expect(admit(Self.sound(20), Self.sound(41)) == ["audio 20", "sound 20", "sound 41"])
        #expect(admit(Self.picture(99, isKey: true), Self.picture(132)) == ["video 99", "key 99", "picture 132"])
    }

    @Test("A configuration repeated while its track was closed is not sent again, another one is")
    func repeated() {
        _ = admit(Self.videoConfiguration, Self.picture(0, isKey: true))
        _ = admit(Self.videoConfiguration, Self.picture(33), open: [])
        #expect(admit(Self.picture(66, isKey: true)) == ["key 66"])
        _ = admit(AVCRecord(width: 320, height: 192).packet, Self.picture(99), open: [])
        #expect(admit(Self.picture(132, isKey: true)) == ["video 132", "key 132"])
        // There and back again: the decoder still has the one in between.
        _ = admit(Self.videoConfiguration, AVCRecord(width: 320, height: 192).packet, open: [])
        #expect(admit(Self.picture(166, isKey: true)) == ["video 166", "key 166"])
    }

    @Test("A screen's connection carries the screen alone; its sound goes nowhere")
    func screen() {
        media = GatedMedia(.screen)
        let out = admit(
            Self.videoConfiguration,
            Self.audioConfiguration,
            Self.picture(0, isKey: true),
            Self.sound(10),
            open: [.screen]
        )
        #expect(out == ["video 0", "key 0"])
        #expect(admit(Self.picture(33), open: [.mic, .camera]).isEmpty)
        #expect(media.droppedSounds == 1)
    }
}
