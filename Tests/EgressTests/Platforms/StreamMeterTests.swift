import Media
import NIOCore
import Stage
import Testing

@testable import Egress

@Suite("What a stream is measured to be")
struct StreamMeterTests {
    /// Feeds 30 frames and 50 audio frames a second; the figures of every stretch.
    private func run(
        _ meter: inout StreamMeter,
        seconds: ClosedRange<Int>,
        keyInterval: Int,
        bytes: Int,
        offset: (Int) -> Int32 = { _ in 0 }
    ) -> [StreamProperties] {
        var found: [StreamProperties] = []
        for frame in seconds.lowerBound * 30..<seconds.upperBound * 30 {
            let isKey = frame % (keyInterval * 30) == 0
            let time = Int64(frame) * 1000 / 30
            let packet = MediaPacket(
                content: .video(.h264, isKey: isKey, isDisposable: false),
                timestamp: time,
                compositionOffset: offset(frame),
                body: ByteBuffer(repeating: 0, count: bytes + 5),
                headerLength: 5
            )
            if let figures = meter.add(packet) { found.append(figures) }
            let audioPart = MediaPacket(
                content: .audio(.aac),
                timestamp: time,
                body: ByteBuffer(repeating: 0, count: 502),
                headerLength: 2
            )
            if let figures = meter.add(audioPart) { found.append(figures) }
        }
        return found
    }

    @Test("a real stream's size, rates, codecs and keyframes")
    func real() throws {
        let sample = try Sample.shared.get()
        var meter = StreamMeter()
        var found: [StreamProperties] = []
        let length = (sample.packets.map(\.timestamp).max() ?? 0) + 33
        for round in 0..<4 {
            for var packet in sample.packets where round == 0 || !packet.isConfiguration {
                packet.timestamp += Int64(round) * length
                if let figures = meter.add(packet) { found.append(figures) }
            }
        }
        let figures = try #require(found.first)
        #expect(figures.width == 640 && figures.height == 360 && figures.videoCodec == .h264)
        #expect(figures.profile == 66 || figures.profile == 77)
        #expect(abs((figures.frameRate ?? 0) - 30) < 0.5)
        #expect(abs((figures.videoBitrate ?? 0) - 2500) < 250, "\(figures)")
        #expect(abs((figures.keyInterval ?? 0) - 1) < 0.1)
        #expect(figures.reorderedFrames == 0)
        #expect(figures.audioCodec == .aac && figures.sampleRate == 48_000)
        #expect((20...130).contains(figures.audioBitrate ?? 0), "\(figures)")
    }

    @Test("the bitrate and the distance of keyframes are those of each stretch, not of all time")
    func stretches() throws {
        var meter = StreamMeter()
        let header = ByteBuffer(bytes: [0])
        _ = meter.add(
            MediaPacket(content: .videoConfiguration(.h264), timestamp: 0, body: header, headerLength: 0)
        )
        let good = run(&meter, seconds: 0...22, keyInterval: 2, bytes: 12_500)
        #expect(good.count == 2)
        #expect(good.allSatisfy { abs(($0.videoBitrate ?? 0) - 3000) < 10 && $0.keyInterval == 2 }, "\(good)")
        let bad = run(&meter, seconds: 24...60, keyInterval: 8, bytes: 2500)
        #expect(bad.last?.keyInterval == 8)
        #expect(abs((bad.last?.videoBitrate ?? 0) - 600) < 10)
        #expect(bad.last?.width == nil)
    }

    @Test("D10 the busiest second of a stretch is told beside its mean, and a format that has changed from then on")
    func burstsAndChanges() {
        var meter = StreamMeter()
        func configure(_ byte: UInt8) {
            let header = ByteBuffer(bytes: [byte])
            _ = meter.add(
                MediaPacket(content: .videoConfiguration(.h264), timestamp: 0, body: header, headerLength: 0)
            )
        }
        configure(1)
        var found = run(&meter, seconds: 0...5, keyInterval: 2, bytes: 1000)
        found += run(&meter, seconds: 5...6, keyInterval: 2, bytes: 10_000)
        found += run(&meter, seconds: 6...11, keyInterval: 2, bytes: 1000)
        #expect(abs((found.first?.peakVideoBitrate ?? 0) - 2400) < 100, "\(found)")
        #expect(abs((found.first?.videoBitrate ?? 0) - 456) < 20)
        #expect(found.first?.hasChanged == nil)
        // Repeated it is the same.
        configure(1)
        found = run(&meter, seconds: 11...22, keyInterval: 2, bytes: 1000)
        #expect(found.first?.hasChanged == nil && abs((found.first?.peakVideoBitrate ?? 0) - 240) < 20)
        configure(2)
        found = run(&meter, seconds: 22...46, keyInterval: 2, bytes: 1000)
        #expect(found.count == 2 && found.allSatisfy { $0.hasChanged == true })
    }

    @Test("B-frames are counted by the frames that are shown before one that came ahead of them")
    func reordered() {
        var meter = StreamMeter()
        _ = meter.add(
            MediaPacket(
                content: .videoConfiguration(.h264),
                timestamp: 0,
                body: ByteBuffer(bytes: [0]),
                headerLength: 0
            )
        )
        // Sent as P B B: each P is shown after the two that follow it.
        let found = run(&meter, seconds: 0...13, keyInterval: 2, bytes: 100) { $0 % 3 == 1 ? 66 : -33 }
        #expect(found.first?.reorderedFrames == 2)
    }

    @Test("without another keyframe a stretch ends after a while by the audio")
    func keyless() {
        var meter = StreamMeter()
        _ = meter.add(
            MediaPacket(
                content: .videoConfiguration(.h264),
                timestamp: 0,
                body: ByteBuffer(bytes: [0]),
                headerLength: 0
            )
        )
        let found = run(&meter, seconds: 0...25, keyInterval: 1000, bytes: 100)
        #expect(found.count == 1)
        #expect((19...21).contains(found.first?.keyInterval ?? 0))
    }
}
