import Foundation
import HLS
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Decoded output compared with the encoder's", .enabled(if: TestRun.isFull), .serialized)
struct DecodedContentTests {
    struct Source: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var size: String? = "320x180"
        var rate = "30"
        var video = ["-preset", "ultrafast", "-tune", "zerolatency"]
        var keyInterval = 60
        var sampleRate: Int? = 48_000
        var channels = 2
    }

    static let sources = [
        Source(testDescription: "30 fps, no reordering"),
        Source(
            testDescription: "25 fps with B-frames, 44.1 kHz mono",
            rate: "25",
            video: ["-preset", "veryfast", "-bf", "3", "-b_strategy", "0"],
            keyInterval: 50,
            sampleRate: 44_100,
            channels: 1
        ),
        Source(testDescription: "29.97 fps", rate: "30000/1001"),
        Source(testDescription: "cropped video without audio", size: "638x358", sampleRate: nil),
        Source(testDescription: "audio without video", size: nil),
    ]

    @Test("decodes every video and audio frame bit for bit", arguments: sources)
    func identical(source: Source) throws {
        try withTemporaryFolder { folder in
            let recording = try EncodedSource(
                in: folder,
                size: source.size,
                rate: source.rate,
                keyInterval: source.keyInterval,
                video: source.video,
                sampleRate: source.sampleRate,
                channels: source.channels
            )
            var broadcast = Broadcast()
            broadcast.feed(recording.packets)
            broadcast.finish()
            #expect(broadcast.segmenter.droppedPackets == 0)
            #expect(broadcast.segments.count >= 2)
            let index = try broadcast.write(to: folder)
            if source.size != nil {
                let frames = try FFmpegReference.frames(index, stream: "v")
                #expect(frames.count == recording.frames.count)
                #expect(try frames == FFmpegReference.frames(recording.file, stream: "v"))
            }
            if source.sampleRate != nil {
                let audioFrames = try FFmpegReference.frames(index, stream: "a")
                #expect(audioFrames.count >= recording.audioFrames.count - 1)
                #expect(try audioFrames == FFmpegReference.frames(recording.file, stream: "a"))
            }
        }
    }

    @Test("preserves the feed's timestamps without gaps, from zero and from beyond 2^33", arguments: [0, 1 << 34])
    func times(late: Int64) throws {
        try withTemporaryFolder { folder in
            let recording = try EncodedSource(in: folder, rate: "25", video: ["-preset", "veryfast", "-bf", "2"])
            let packets = recording.packets.map { $0.delayed(by: late) }
            var broadcast = Broadcast()
            broadcast.feed(packets)
            broadcast.finish()
            let index = try broadcast.write(to: folder)

            let frames = try FFmpegReference.packets(index, stream: "v")
            let sent = packets.filter(\.isVideoFrame)
            #expect(frames.count == sent.count)
            for (found, packet) in zip(frames, sent) {
                #expect(abs(found.decode * 1000 - Double(packet.timestamp)) < 0.5)
                #expect(abs(found.presentation * 1000 - Double(packet.presentationTimestamp)) < 0.5)
                #expect(found.isKey == packet.isKeyframe)
            }
            for (frame, next) in zip(frames, frames.dropFirst()) {
                #expect(abs(frame.decode + frame.duration - next.decode) < 0.0001)
            }

            let audioFrames = try FFmpegReference.packets(index, stream: "a")
            let sentAudio = packets.filter(\.isAudioFrame)
            #expect(audioFrames.count == sentAudio.count)
            for (found, packet) in zip(audioFrames, sentAudio) {
                #expect(abs(found.presentation * 1000 - Double(packet.timestamp)) <= 1.01)
            }
            for (audioFrame, next) in zip(audioFrames, audioFrames.dropFirst()) {
                #expect(abs(audioFrame.presentation + 1024.0 / 48_000 - next.presentation) < 0.0001)
            }
        }
    }

    @Test("plays through a discontinuity with the same encoder settings")
    func discontinuity() throws {
        try withTemporaryFolder { folder in
            let recording = try EncodedSource(in: folder, seconds: 3)
            var broadcast = Broadcast()
            broadcast.feed(recording.packets)
            broadcast.segmenter.discontinuity()
            broadcast.feed(recording.packets.map { $0.delayed(by: 60_000) })
            broadcast.finish()
            #expect(broadcast.initializations.count == 1)
            #expect(broadcast.segments.map(\.isDiscontinuity) == [false, false, true, false])
            #expect(broadcast.text().components(separatedBy: "#EXT-X-DISCONTINUITY\n").count == 2)
            let index = try broadcast.write(to: folder)
            let frames = try FFmpegReference.frames(index, stream: "v")
            let source = try FFmpegReference.frames(recording.file, stream: "v")
            #expect(frames == source + source)
        }
    }

    @Test("starts a discontinuity with a new initialization segment when the video size changes")
    func sizeChange() throws {
        try withTemporaryFolder { folder in
            let small = try EncodedSource(in: folder, name: "small", seconds: 3)
            let large = try EncodedSource(in: folder, name: "large", size: "640x360", seconds: 3)
            var broadcast = Broadcast()
            broadcast.feed(small.packets)
            broadcast.feed(large.packets.map { $0.delayed(by: 3000) })
            broadcast.finish()
            #expect(broadcast.initializations.map(\.width) == [320, 640])
            #expect(broadcast.segments.map(\.isDiscontinuity) == [false, false, true, false])
            #expect(broadcast.segments.map(\.initialization) == ["init0.mp4", "init0.mp4", "init1.mp4", "init1.mp4"])
            for (name, recording) in [("init0.mp4", small), ("init1.mp4", large)] {
                var bytes = broadcast.initializations.filter { $0.name == name }
                    .reduce(into: Data()) { $0.append(contentsOf: $1.data.readableBytesView) }
                for segment in broadcast.segments where segment.initialization == name {
                    for part in segment.parts { bytes.append(contentsOf: part.readableBytesView) }
                }
                let file = folder.appendingPathComponent("joined-\(name)")
                try bytes.write(to: file)
                let expected = try FFmpegReference.frames(recording.file, stream: "v")
                #expect(try FFmpegReference.frames(file, stream: "v") == expected)
            }
        }
    }

    @Test("plays the concatenated parts like the segments, gaps included")
    func parts() throws {
        try withTemporaryFolder { folder in
            let recording = try EncodedSource(in: folder, seconds: 5)
            // Most of a second without video: longer than two parts.
            let packets = recording.packets.filter { packet in
                !packet.isVideoFrame || packet.isKeyframe || !(2_400..<3_200).contains(packet.timestamp)
            }
            var broadcast = Broadcast()
            broadcast.feed(packets)
            broadcast.finish()
            let parts = broadcast.parts.reduce(into: Data()) { $0.append(contentsOf: $1.data.readableBytesView) }
            let segments = broadcast.segments.flatMap(\.parts)
                .reduce(into: Data()) { $0.append(contentsOf: $1.readableBytesView) }
            #expect(parts == segments)
            #expect(try broadcast.parts.contains { try Fragment($0.data).video?.sizes.isEmpty == true })
            let file = folder.appendingPathComponent("parts.mp4")
            try (Data(broadcast.initializations[0].data.readableBytesView) + parts).write(to: file)
            let frames = try FFmpegReference.frames(file, stream: "v")
            #expect(try FFmpegReference.packets(file, stream: "v").count == packets.filter(\.isVideoFrame).count)
            #expect(frames == (try FFmpegReference.frames(broadcast.write(to: folder), stream: "v")))
            let expected = try FFmpegReference.frames(recording.file, stream: "a")
            #expect(try FFmpegReference.frames(file, stream: "a") == expected)
        }
    }
}
