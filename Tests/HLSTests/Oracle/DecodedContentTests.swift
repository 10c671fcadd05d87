import Foundation
import HLS
import Media
import NIOCore
import Testing

@Suite("What players decode is what the encoder made", .serialized)
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
        Source(testDescription: "30 pictures a second, no reordering"),
        Source(
            testDescription: "25 pictures a second with B-pictures, 44.1 kHz mono",
            rate: "25",
            video: ["-preset", "veryfast", "-bf", "3", "-b_strategy", "0"],
            keyInterval: 50,
            sampleRate: 44_100,
            channels: 1
        ),
        Source(testDescription: "29.97 pictures a second", rate: "30000/1001"),
        Source(testDescription: "cropped pictures without sound", size: "638x358", sampleRate: nil),
        Source(testDescription: "sound without pictures", size: nil),
    ]

    @Test("every picture and every sound comes back bit for bit", arguments: sources)
    func identical(source: Source) throws {
        try withTemporaryFolder { folder in
            let recording = try Recording(
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
                let pictures = try Oracle.frames(index, stream: "v")
                #expect(pictures.count == recording.pictures.count)
                #expect(try pictures == Oracle.frames(recording.file, stream: "v"))
            }
            if source.sampleRate != nil {
                let sounds = try Oracle.frames(index, stream: "a")
                #expect(sounds.count >= recording.sounds.count - 1)
                #expect(try sounds == Oracle.frames(recording.file, stream: "a"))
            }
        }
    }

    @Test("times are the feed's own, without gaps, from zero or from far beyond 2^33", arguments: [0, 1 << 34])
    func times(late: Int64) throws {
        try withTemporaryFolder { folder in
            let recording = try Recording(in: folder, rate: "25", video: ["-preset", "veryfast", "-bf", "2"])
            let packets = recording.packets.map { $0.delayed(by: late) }
            var broadcast = Broadcast()
            broadcast.feed(packets)
            broadcast.finish()
            let index = try broadcast.write(to: folder)

            let pictures = try Oracle.packets(index, stream: "v")
            let sent = packets.filter(\.isPicture)
            #expect(pictures.count == sent.count)
            for (found, packet) in zip(pictures, sent) {
                #expect(abs(found.decode * 1000 - Double(packet.timestamp)) < 0.5)
                #expect(abs(found.presentation * 1000 - Double(packet.presentationTimestamp)) < 0.5)
                #expect(found.isKey == packet.isKeyPicture)
            }
            for (picture, next) in zip(pictures, pictures.dropFirst()) {
                #expect(abs(picture.decode + picture.duration - next.decode) < 0.0001)
            }

            let sounds = try Oracle.packets(index, stream: "a")
            let sentSounds = packets.filter(\.isSound)
            #expect(sounds.count == sentSounds.count)
            for (found, packet) in zip(sounds, sentSounds) {
                #expect(abs(found.presentation * 1000 - Double(packet.timestamp)) <= 1.01)
            }
            for (sound, next) in zip(sounds, sounds.dropFirst()) {
                #expect(abs(sound.presentation + 1024.0 / 48_000 - next.presentation) < 0.0001)
            }
        }
    }

    @Test("a discontinuity with the same encoder settings plays through")
    func discontinuity() throws {
        try withTemporaryFolder { folder in
            let recording = try Recording(in: folder, seconds: 3)
            var broadcast = Broadcast()
            broadcast.feed(recording.packets)
            broadcast.segmenter.discontinuity()
            broadcast.feed(recording.packets.map { $0.delayed(by: 60_000) })
            broadcast.finish()
            #expect(broadcast.initializations.count == 1)
            #expect(broadcast.segments.map(\.isDiscontinuity) == [false, false, true, false])
            #expect(broadcast.text().components(separatedBy: "#EXT-X-DISCONTINUITY\n").count == 2)
            let index = try broadcast.write(to: folder)
            let pictures = try Oracle.frames(index, stream: "v")
            let source = try Oracle.frames(recording.file, stream: "v")
            #expect(pictures == source + source)
        }
    }

    @Test("a change of picture size begins a discontinuity with its own initialization, and both sides decode")
    func sizeChange() throws {
        try withTemporaryFolder { folder in
            let small = try Recording(in: folder, name: "small", seconds: 3)
            let large = try Recording(in: folder, name: "large", size: "640x360", seconds: 3)
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
                #expect(try Oracle.frames(file, stream: "v") == Oracle.frames(recording.file, stream: "v"))
            }
        }
    }

    @Test("all parts one after the other are the segments bit for bit, and play as they do, holes included")
    func parts() throws {
        try withTemporaryFolder { folder in
            let recording = try Recording(in: folder, seconds: 5)
            // Most of a second in which no picture came: longer than two parts.
            let packets = recording.packets.filter { packet in
                !packet.isPicture || packet.isKeyPicture || !(2_400..<3_200).contains(packet.timestamp)
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
            let pictures = try Oracle.frames(file, stream: "v")
            #expect(try Oracle.packets(file, stream: "v").count == packets.filter(\.isPicture).count)
            #expect(pictures == (try Oracle.frames(broadcast.write(to: folder), stream: "v")))
            #expect(try Oracle.frames(file, stream: "a") == Oracle.frames(recording.file, stream: "a"))
        }
    }
}
