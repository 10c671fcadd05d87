import FootlightClient
import Foundation
import Media
import RTMP
import Synchronization
import TestSupport
import Testing

@Suite("Media sources without a camera", .timeLimit(.minutes(1)))
struct MediaSourceTests {
    private final class PacketLog: Sendable {
        let packets = Mutex<[MediaPacket]>([])

        var count: Int { packets.withLock { $0.count } }
        var all: [MediaPacket] { packets.withLock { $0 } }
    }

    /// Runs a source on a clock that advances only while the source sleeps.
    private func collect(
        _ count: Int,
        from makeSource: (ClientClock) -> any MediaSource
    ) async throws -> [MediaPacket] {
        let now = Mutex(Duration.zero)
        let basket = PacketLog()
        let clock = ClientClock(
            now: { now.withLock { $0 } },
            sleep: { duration in
                if basket.count >= count { throw CancellationError() }
                now.withLock { $0 += duration }
            }
        )
        do {
            try await makeSource(clock).produce { packet in basket.packets.withLock { $0.append(packet) } }
        } catch is CancellationError {
            // Enough packets.
        }
        return basket.all
    }

    private func write(_ packets: [MediaPacket], to path: String) throws {
        var file = FLVFileBytes()
        for packet in packets { file.append(packet) }
        try file.data.write(to: URL(fileURLWithPath: path))
    }

    @Test("The pattern decodes to its colour and a tone of 468.75 Hz")
    func pattern() async throws {
        let packets = try await collect(300) { PatternMediaSource(clock: $0) }
        let folder = try TemporaryFolder("pattern")
        let path = folder.file("pattern.flv")
        try write(packets, to: path)
        let recording = try await Recording(path: path)
        #expect(recording.video?.width == 160 && recording.video?.height == 96)
        #expect(recording.video?.codec == "h264" && recording.audio?.codec == "aac")
        let frames = try await recording.allFrames(width: 160, height: 96)
        #expect(frames.count > 50)
        for frame in [frames[0], frames[1], frames[14], frames[15], frames[40]] {
            let colour = frame.averageColour(x: 8, y: 8, width: 140, height: 80)
            #expect(colour.red > 235 && colour.green < 25 && colour.blue < 25, "\(colour)")
        }
        let audioPart = try await recording.decodedAudio()
        #expect(audioPart.toneLevel(frequency: PatternMediaSource.frequency, from: 0.2) > -30)
        #expect(
            abs(audioPart.toneLevel(frequency: 468.75, from: 0.2) - audioPart.level(from: 0.2)) < 4,
            "nothing but the tone"
        )
        #expect(audioPart.clicks(above: 0.2).isEmpty)
    }

    @Test("A file is played in real time, and looped with continuing timestamps")
    func file() async throws {
        let packets = try await collect(100) { PatternMediaSource(clock: $0) }
        let folder = try TemporaryFolder("file")
        let path = folder.file("clip.flv")
        try write(packets, to: path)
        let once = try await collect(.max) { FileMediaSource(path: path, clock: $0) }
        #expect(once.map(\.body) == packets.map(\.body))
        #expect(once.map(\.timestamp) == packets.map(\.timestamp))
        let looped = try await collect(250) { FileMediaSource(path: path, isLooped: true, clock: $0) }
        #expect(looped.count >= 250)
        #expect(zip(looped, looped.dropFirst()).allSatisfy { $0.timestamp <= $1.timestamp })
        #expect(looped[100].content == .metadata && looped[100].timestamp == packets[99].timestamp + 33)
        await #expect(throws: (any Error).self) {
            _ = try await collect(1) { FileMediaSource(path: folder.file("none.flv"), clock: $0) }
        }
    }
}
