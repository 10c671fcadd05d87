import FootlightClient
import FootlightTesting
import Foundation
import Media
import RTMP
import Synchronization
import Testing

@Suite("Media without a camera", .timeLimit(.minutes(1)))
struct MediaSourceTests {
    private final class Basket: Sendable {
        let packets = Mutex<[MediaPacket]>([])

        var count: Int { packets.withLock { $0.count } }
        var all: [MediaPacket] { packets.withLock { $0 } }
    }

    /// Runs a source on a clock that stands still but when the source waits.
    private func take(
        _ count: Int,
        from makeSource: (ClientClock) -> any MediaSource
    ) async throws -> [MediaPacket] {
        let now = Mutex(Duration.zero)
        let basket = Basket()
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
            // Enough.
        }
        return basket.all
    }

    private func write(_ packets: [MediaPacket], to path: String) throws {
        var file = FLVFileBytes()
        for packet in packets { file.append(packet) }
        try file.data.write(to: URL(fileURLWithPath: path))
    }

    @Test("The pattern is a picture of its colour and a tone of 468.75 Hz, as any decoder sees and hears it")
    func pattern() async throws {
        let packets = try await take(300) { PatternMediaSource(clock: $0) }
        let folder = try TemporaryFolder("pattern")
        let path = folder.file("pattern.flv")
        try write(packets, to: path)
        let recording = try await Recording(path: path)
        #expect(recording.video?.width == 160 && recording.video?.height == 96)
        #expect(recording.video?.codec == "h264" && recording.audio?.codec == "aac")
        let frames = try await recording.allPictures(width: 160, height: 96)
        #expect(frames.count > 50)
        for frame in [frames[0], frames[1], frames[14], frames[15], frames[40]] {
            let colour = frame.averageColour(x: 8, y: 8, width: 140, height: 80)
            #expect(colour.red > 235 && colour.green < 25 && colour.blue < 25, "\(colour)")
        }
        let sound = try await recording.sound()
        #expect(sound.toneLevel(frequency: PatternMediaSource.frequency, from: 0.2) > -30)
        #expect(abs(sound.toneLevel(frequency: 468.75, from: 0.2) - sound.level(from: 0.2)) < 4, "nothing but the tone")
        #expect(sound.clicks(above: 0.2).isEmpty)
    }

    @Test("A file is played at its own pace, and again with timestamps that go on")
    func file() async throws {
        let packets = try await take(100) { PatternMediaSource(clock: $0) }
        let folder = try TemporaryFolder("file")
        let path = folder.file("clip.flv")
        try write(packets, to: path)
        let once = try await take(.max) { FileMediaSource(path: path, clock: $0) }
        #expect(once.map(\.body) == packets.map(\.body))
        #expect(once.map(\.timestamp) == packets.map(\.timestamp))
        let looped = try await take(250) { FileMediaSource(path: path, isLooped: true, clock: $0) }
        #expect(looped.count >= 250)
        #expect(zip(looped, looped.dropFirst()).allSatisfy { $0.timestamp <= $1.timestamp })
        #expect(looped[100].content == .metadata && looped[100].timestamp == packets[99].timestamp + 33)
        await #expect(throws: (any Error).self) {
            _ = try await take(1) { FileMediaSource(path: folder.file("none.flv"), clock: $0) }
        }
    }
}
