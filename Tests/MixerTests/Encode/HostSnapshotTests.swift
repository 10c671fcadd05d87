import Codecs
import Foundation
import Media
import NIOCore
import Stage
import Synchronization
import TestSupport
import Testing

@testable import Mixer

@Suite("Snapshots of single hosts") struct HostSnapshotTests {
    private static let program = ProgramConfiguration(width: 640, height: 360, preset: .ultrafast)

    private func snapshot(_ mixer: ProgramMixer, _ host: String, width: Int?) async -> ByteBuffer? {
        await withCheckedContinuation { done in
            mixer.requestSnapshot(Snapshot(.jpeg, width: width), of: host) { done.resume(returning: $0) }
        }
    }

    @Test("shows the newest keyframe of a host that has no tile, in the width that is asked for")
    func hidden() async throws {
        let mixer = try ProgramMixer(configuration: Self.program) { _ in }
        #expect(await snapshot(mixer, "ann", width: 160) == nil)
        let input = mixer.addHost("ann")
        #expect(await snapshot(mixer, "ann", width: 160) == nil, "it has sent nothing yet")
        // The second GOP is green.
        let green = YUVColour(red: 30, green: 170, blue: 40)
        let clip = try HostClip.make(
            paint: { canvas, index in canvas.fill(canvas.bounds, index < 60 ? .red : green) },
            sample: nil
        )
        for packet in clip.packets(from: 0, to: 3500) { input.receive(packet, arrival: .now()) }
        let folder = try TemporaryFolder("snapshots")
        for (width, expected) in [(160, 160), (nil, 320), (640, 320)] as [(Int?, Int)] {
            let file = try #require(await snapshot(mixer, "ann", width: width))
            let path = folder.file("ann.jpg")
            try Data(file.readableBytesView).write(to: URL(fileURLWithPath: path))
            let frame = try await Recording(path: path).frame(at: 0)
            #expect(frame.width == expected)
            #expect(frame.colour(x: frame.width / 2, y: frame.height / 2).distance(to: .green) < 60)
        }
        mixer.stop()
    }

    @Test("a damaged keyframe has no image, and the next one has")
    func damaged() async throws {
        let mixer = try ProgramMixer(configuration: Self.program) { _ in }
        let input = mixer.addHost("ann")
        let clip = try HostClip.make(paint: { canvas, _ in canvas.fill(canvas.bounds, .red) }, sample: nil)
        let packets = clip.packets(from: 0, to: 3500)
        for packet in packets.prefix(2) where packet.isConfiguration { input.receive(packet, arrival: .now()) }
        let broken = MediaPacket(
            content: .video(.h264, isKey: true, isDisposable: false),
            timestamp: 0,
            body: ByteBuffer(bytes: [0, 0, 0, 4, 0x65, 0xFF, 0xFF, 0xFF]),
            headerLength: 0
        )
        input.receive(broken, arrival: .now())
        #expect(await snapshot(mixer, "ann", width: 160) == nil)
        for packet in packets where packet.isKeyframe { input.receive(packet, arrival: .now()) }
        #expect(await snapshot(mixer, "ann", width: 160) != nil)
        mixer.stop()
    }
}
