import HLS
import Media
import NIOCore
import Testing

@Suite("A program is cut into parts and segments")
struct SegmenterTests {
    @Test("segments last from key picture to key picture, parts join without a hole")
    func regular() {
        var broadcast = Broadcast()
        broadcast.feed(SyntheticProgram.program(pictures: 151))
        #expect(broadcast.segments.map(\.sequence) == [0, 1, 2])
        #expect(broadcast.segments.map(\.start) == [0, 2, 4])
        #expect(broadcast.segments.allSatisfy { $0.duration == 2 && $0.isIndependent && !$0.isDiscontinuity })
        for segment in broadcast.segments {
            let parts = broadcast.parts.filter { $0.sequence == segment.sequence }
            #expect(parts.map(\.index) == Array(parts.indices))
            #expect(parts.map(\.isIndependent) == [true] + Array(repeating: false, count: parts.count - 1))
            #expect(parts.map(\.data) == segment.parts)
            #expect(parts.allSatisfy { $0.duration <= 0.202 })
            #expect(parts.dropLast().allSatisfy { $0.duration >= 0.202 * 0.85 })
            for (part, next) in zip(parts, parts.dropFirst()) {
                #expect(abs(part.start + part.duration - next.start) < 1e-9)
            }
            #expect(segment.byteCount == segment.parts.reduce(0) { $0 + $1.readableBytes })
        }
    }

    @Test("the last picture of a part lasts until the next one begins")
    func variableRate() throws {
        var broadcast = Broadcast()
        let times: [Int64] = [0, 33, 67, 100, 200, 201, 201, 201, 400]
        broadcast.feed([SyntheticProgram.videoConfiguration])
        broadcast.feed(times.map { SyntheticProgram.picture($0, isKey: $0 == 0) })
        broadcast.finish()
        let runs = try broadcast.parts.flatMap { try Fragment($0.data).video?.durations ?? [] }
        // Pictures of one millisecond are a tick apart; the very last lasts as long as the one before it.
        #expect(runs == [33, 34, 33, 100, 1].map { $0 * 90 } + [1, 1, 199 * 90 - 2, 199 * 90 - 2])
    }

    @Test("nothing comes before the first key picture, and the sound beside it is kept")
    func start() throws {
        var broadcast = Broadcast()
        broadcast.feed([SyntheticProgram.videoConfiguration, SyntheticProgram.audioConfiguration])
        broadcast.feed([0, 800, 905, 990].map { SyntheticProgram.sound($0) })
        broadcast.feed([SyntheticProgram.picture(500), SyntheticProgram.picture(1000, isKey: true)])
        broadcast.finish()
        #expect(broadcast.segmenter.droppedPackets == 3)
        let fragment = try Fragment(try #require(broadcast.parts.first).data)
        #expect(fragment.video?.baseTime == 90_000)
        #expect(fragment.audio?.baseTime == 43_440)
        #expect(fragment.audio?.sizes.count == 2)
    }

    @Test("key pictures more often than segments do not cut them short")
    func frequentKeys() {
        var broadcast = Broadcast()
        broadcast.feed(SyntheticProgram.program(pictures: 101, group: 25))
        #expect(broadcast.segments.map(\.duration) == [2, 2])
        #expect(broadcast.parts.filter(\.isIndependent).count == 4)
    }

    @Test("a group of pictures longer than the target duration is cut, and what follows is not called independent")
    func longGroups() {
        var broadcast = Broadcast()
        broadcast.feed(SyntheticProgram.program(pictures: 301, group: 150))
        #expect(broadcast.segments.allSatisfy { $0.duration.rounded() <= 2 })
        #expect(broadcast.segments.map(\.isIndependent).prefix(4) == [true, false, false, true])
        #expect(!broadcast.text().contains("INDEPENDENT-SEGMENTS"))
    }

    @Test(
        "Only segments that each begin with a key picture are said to in advance, and not on the word of the first",
        arguments: [(50, true), (60, true), (76, false), (90, false), (150, false), (300, false)]
    )
    func claim(group: Int, isIndependent: Bool) {
        var broadcast = Broadcast()
        for packet in SyntheticProgram.program(pictures: 601, group: group) {
            broadcast.feed([packet])
            // Whoever comes at whatever moment is told what stays true.
            #expect(!broadcast.playlist.isIndependent || isIndependent)
        }
        #expect(broadcast.playlist.isIndependent == isIndependent, "\(broadcast.segments.map(\.isIndependent))")
    }

    @Test("a huge segment is cut by its size")
    func bySize() {
        var broadcast = Broadcast(HLSConfiguration(windowLength: 3, graceLength: 0, maximumBytes: 4 << 20))
        broadcast.feed([SyntheticProgram.videoConfiguration])
        broadcast.feed((0..<40).map { SyntheticProgram.picture($0 * 40, isKey: $0 == 0, bytes: 200_000) })
        #expect(broadcast.segments.count >= 4)
        #expect(broadcast.segments.allSatisfy { $0.byteCount < 1_500_000 })
        #expect(broadcast.playlist.storedBytes <= 5 << 20)
    }

    @Test("a clock that steps back begins a discontinuity at the next key picture")
    func backwards() {
        var broadcast = Broadcast()
        broadcast.feed(SyntheticProgram.program(from: 50_000, pictures: 60))
        broadcast.feed([SyntheticProgram.picture(100), SyntheticProgram.picture(140)])
        broadcast.feed(SyntheticProgram.program(from: 180, pictures: 60, withConfiguration: false))
        broadcast.finish()
        #expect(broadcast.segments.map(\.isDiscontinuity) == [false, false, true, false])
        #expect(broadcast.segments.map(\.start) == [50, 52, 0.18, 2.18])
        #expect(broadcast.segments[1].duration == 0.4)
        #expect(broadcast.segmenter.droppedPackets == 2)
    }

    @Test("a hole longer than a segment begins a discontinuity, so that no segment outlasts the target")
    func hole() {
        var broadcast = Broadcast()
        broadcast.feed(SyntheticProgram.program(pictures: 60))
        broadcast.feed(SyntheticProgram.program(from: 9000, pictures: 60, withConfiguration: false))
        broadcast.finish()
        #expect(broadcast.segments.map(\.duration) == [2, 0.4, 2, 0.4])
        #expect(broadcast.segments.map(\.isDiscontinuity) == [false, false, true, false])
    }

    @Test("sound alone does not keep a segment growing when pictures stop")
    func picturesStop() {
        var broadcast = Broadcast()
        broadcast.feed(SyntheticProgram.program(pictures: 60))
        broadcast.feed(SyntheticProgram.sounds(from: 2400, seconds: 10))
        #expect(broadcast.segments.count == 2)
        #expect(broadcast.parts.reduce(0) { $0 + $1.data.readableBytes } < 40_000)
        broadcast.feed(SyntheticProgram.program(from: 12_400, pictures: 51, withConfiguration: false))
        #expect(broadcast.segments.map(\.isDiscontinuity) == [false, false, true])
    }

    @Test("a program without video is cut by its sound")
    func audioOnly() throws {
        var broadcast = Broadcast()
        broadcast.feed([SyntheticProgram.audioConfiguration] + SyntheticProgram.sounds(from: 7, seconds: 7))
        #expect(broadcast.segments.count == 3)
        #expect(broadcast.segments.allSatisfy { abs($0.duration - 94 * 1024 / 48_000) < 1e-9 && $0.isIndependent })
        #expect(broadcast.initializations.map(\.codecs) == ["mp4a.40.2"])
        #expect(broadcast.initializations.first?.width == nil)
        #expect(broadcast.segmenter.droppedPackets == 0)
        let times = try broadcast.parts.compactMap { try Fragment($0.data).audio }
        #expect(times.first?.baseTime == 336)
        for (run, next) in zip(times, times.dropFirst()) {
            #expect(run.baseTime + Int64(run.sizes.count) * 1024 == next.baseTime)
        }
    }

    @Test("video that joins a program without it begins a discontinuity with both tracks")
    func videoJoins() {
        var broadcast = Broadcast()
        broadcast.feed([SyntheticProgram.audioConfiguration] + SyntheticProgram.sounds(seconds: 3))
        broadcast.feed(SyntheticProgram.program(from: 3000, pictures: 60))
        broadcast.finish()
        #expect(broadcast.initializations.map(\.codecs) == ["mp4a.40.2", "avc1.42C01E,mp4a.40.2"])
        #expect(broadcast.segments.map(\.isDiscontinuity) == [false, false, true, false])
        #expect(broadcast.segments[1].start + broadcast.segments[1].duration <= 3.03)
    }

    @Test("damaged and foreign packets are left out and counted")
    func damage() {
        var broadcast = Broadcast()
        broadcast.feed(SyntheticProgram.program(pictures: 10))
        let before = broadcast.segmenter.droppedPackets
        let broken = MediaPacket.h264Picture(isKey: true, isDisposable: false, timestamp: 400, capacity: 8) {
            $0.writeBytes([0, 0, 0, 9, 0x65, 1, 2])
        }
        let foreign = MediaPacket(content: .sound(.mp3), timestamp: 400, body: ByteBuffer(bytes: [1]), headerLength: 0)
        let noise = MediaPacket.h264Configuration(ByteBuffer(bytes: [9, 9, 9]), timestamp: 400)
        broadcast.feed([broken, foreign, noise, SyntheticProgram.picture(.min), SyntheticProgram.picture(.max)])
        #expect(broadcast.segmenter.droppedPackets == before + 5)
        broadcast.feed([SyntheticProgram.picture(400)])
        broadcast.finish()
        #expect(broadcast.segments.map(\.duration) == [0.44])
    }

    @Test("a repeated configuration changes nothing")
    func repeatedConfiguration() {
        var broadcast = Broadcast()
        broadcast.feed(SyntheticProgram.program(pictures: 50))
        broadcast.feed(SyntheticProgram.program(from: 2000, pictures: 51))
        #expect(broadcast.initializations.count == 1)
        #expect(broadcast.segments.map(\.isDiscontinuity) == [false, false])
    }
}
