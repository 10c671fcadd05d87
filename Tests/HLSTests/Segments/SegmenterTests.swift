import Media
import NIOCore
import Testing

@testable import HLS

@Suite("Segmenter")
struct SegmenterTests {
    @Test("ends segments at keyframes and parts without gaps")
    func regular() {
        var broadcast = Broadcast()
        broadcast.feed(SyntheticProgram.program(frames: 151))
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

    @Test("extends the last frame of a part to the start of the next")
    func variableRate() throws {
        var broadcast = Broadcast()
        let times: [Int64] = [0, 33, 67, 100, 200, 201, 201, 201, 400]
        broadcast.feed([SyntheticProgram.videoConfiguration])
        broadcast.feed(times.map { SyntheticProgram.videoFrame($0, isKey: $0 == 0) })
        broadcast.finish()
        let runs = try broadcast.parts.flatMap { try Fragment($0.data).video?.durations ?? [] }
        // Frames with the same millisecond are one tick apart; the last one lasts as long as the previous one.
        #expect(runs == [33, 34, 33, 100, 1].map { $0 * 90 } + [1, 1, 199 * 90 - 2, 199 * 90 - 2])
    }

    @Test("starts with the first keyframe and the audio beside it")
    func start() throws {
        var broadcast = Broadcast()
        broadcast.feed([SyntheticProgram.videoConfiguration, SyntheticProgram.audioConfiguration])
        broadcast.feed([0, 800, 905, 990].map { SyntheticProgram.audioFrame($0) })
        broadcast.feed([SyntheticProgram.videoFrame(500), SyntheticProgram.videoFrame(1000, isKey: true)])
        broadcast.finish()
        #expect(broadcast.segmenter.droppedPackets == 3)
        let fragment = try Fragment(try #require(broadcast.parts.first).data)
        #expect(fragment.video?.baseTime == 90_000)
        #expect(fragment.audio?.baseTime == 43_440)
        #expect(fragment.audio?.sizes.count == 2)
    }

    @Test("does not shorten segments for frequent keyframes")
    func frequentKeys() {
        var broadcast = Broadcast()
        broadcast.feed(SyntheticProgram.program(frames: 101, gop: 25))
        #expect(broadcast.segments.map(\.duration) == [2, 2])
        #expect(broadcast.parts.filter(\.isIndependent).count == 4)
    }

    @Test("splits a GOP longer than the target duration and marks the rest as not independent")
    func longGOPs() {
        var broadcast = Broadcast()
        broadcast.feed(SyntheticProgram.program(frames: 301, gop: 150))
        #expect(broadcast.segments.allSatisfy { $0.duration.rounded() <= 2 })
        #expect(broadcast.segments.map(\.isIndependent).prefix(4) == [true, false, false, true])
        #expect(!broadcast.text().contains("INDEPENDENT-SEGMENTS"))
    }

    @Test(
        "reports independent segments only if all begin with a keyframe, not after the first alone",
        arguments: [(50, true), (60, true), (76, false), (90, false), (150, false), (300, false)]
    )
    func claim(gop: Int, isIndependent: Bool) {
        var broadcast = Broadcast()
        for packet in SyntheticProgram.program(frames: 601, gop: gop) {
            broadcast.feed([packet])
            // The value must never change from true to false.
            #expect(!broadcast.playlist.isIndependent || isIndependent)
        }
        #expect(broadcast.playlist.isIndependent == isIndependent, "\(broadcast.segments.map(\.isIndependent))")
    }

    @Test("splits a large segment by size")
    func bySize() {
        var broadcast = Broadcast(HLSConfiguration(windowLength: 3, graceLength: 0, maximumBytes: 4 << 20))
        broadcast.feed([SyntheticProgram.videoConfiguration])
        broadcast.feed((0..<40).map { SyntheticProgram.videoFrame($0 * 40, isKey: $0 == 0, bytes: 200_000) })
        #expect(broadcast.segments.count >= 4)
        #expect(broadcast.segments.allSatisfy { $0.byteCount < 1_500_000 })
        #expect(broadcast.playlist.storedBytes <= 5 << 20)
    }

    @Test("starts a discontinuity at the next keyframe after a backward clock step")
    func backwards() {
        var broadcast = Broadcast()
        broadcast.feed(SyntheticProgram.program(from: 50_000, frames: 60))
        broadcast.feed([SyntheticProgram.videoFrame(100), SyntheticProgram.videoFrame(140)])
        broadcast.feed(SyntheticProgram.program(from: 180, frames: 60, withConfiguration: false))
        broadcast.finish()
        #expect(broadcast.segments.map(\.isDiscontinuity) == [false, false, true, false])
        #expect(broadcast.segments.map(\.start) == [50, 52, 0.18, 2.18])
        #expect(broadcast.segments[1].duration == 0.4)
        #expect(broadcast.segmenter.droppedPackets == 2)
    }

    @Test("starts a discontinuity after a gap longer than a segment")
    func hole() {
        var broadcast = Broadcast()
        broadcast.feed(SyntheticProgram.program(frames: 60))
        broadcast.feed(SyntheticProgram.program(from: 9000, frames: 60, withConfiguration: false))
        broadcast.finish()
        #expect(broadcast.segments.map(\.duration) == [2, 0.4, 2, 0.4])
        #expect(broadcast.segments.map(\.isDiscontinuity) == [false, false, true, false])
    }

    @Test("ends the segment when video stops while audio continues")
    func videoStops() {
        var broadcast = Broadcast()
        broadcast.feed(SyntheticProgram.program(frames: 60))
        broadcast.feed(SyntheticProgram.audioFrames(from: 2400, seconds: 10))
        #expect(broadcast.segments.count == 2)
        #expect(broadcast.parts.reduce(0) { $0 + $1.data.readableBytes } < 40_000)
        broadcast.feed(SyntheticProgram.program(from: 12_400, frames: 51, withConfiguration: false))
        #expect(broadcast.segments.map(\.isDiscontinuity) == [false, false, true])
    }

    @Test("segments an audio-only program by its audio")
    func audioOnly() throws {
        var broadcast = Broadcast()
        broadcast.feed([SyntheticProgram.audioConfiguration] + SyntheticProgram.audioFrames(from: 7, seconds: 7))
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

    @Test("starts a discontinuity with both tracks when video joins an audio-only program")
    func videoJoins() {
        var broadcast = Broadcast()
        broadcast.feed([SyntheticProgram.audioConfiguration] + SyntheticProgram.audioFrames(seconds: 3))
        broadcast.feed(SyntheticProgram.program(from: 3000, frames: 60))
        broadcast.finish()
        #expect(broadcast.initializations.map(\.codecs) == ["mp4a.40.2", "avc1.42C01E,mp4a.40.2"])
        #expect(broadcast.segments.map(\.isDiscontinuity) == [false, false, true, false])
        #expect(broadcast.segments[1].start + broadcast.segments[1].duration <= 3.03)
    }

    @Test("drops and counts damaged and unsupported packets")
    func damage() {
        var broadcast = Broadcast()
        broadcast.feed(SyntheticProgram.program(frames: 10))
        let before = broadcast.segmenter.droppedPackets
        let broken = MediaPacket.h264Frame(isKey: true, isDisposable: false, timestamp: 400, capacity: 8) {
            $0.writeBytes([0, 0, 0, 9, 0x65, 1, 2])
        }
        let foreign = MediaPacket(content: .audio(.mp3), timestamp: 400, body: ByteBuffer(bytes: [1]), headerLength: 0)
        let noise = MediaPacket.h264Configuration(ByteBuffer(bytes: [9, 9, 9]), timestamp: 400)
        broadcast.feed([broken, foreign, noise, SyntheticProgram.videoFrame(.min), SyntheticProgram.videoFrame(.max)])
        #expect(broadcast.segmenter.droppedPackets == before + 5)
        broadcast.feed([SyntheticProgram.videoFrame(400)])
        broadcast.finish()
        #expect(broadcast.segments.map(\.duration) == [0.44])
    }

    @Test("ignores a repeated configuration")
    func repeatedConfiguration() {
        var broadcast = Broadcast()
        broadcast.feed(SyntheticProgram.program(frames: 50))
        broadcast.feed(SyntheticProgram.program(from: 2000, frames: 51))
        #expect(broadcast.initializations.count == 1)
        #expect(broadcast.segments.map(\.isDiscontinuity) == [false, false])
    }
}

@Suite("Audio sample clock")
struct AudioSampleClockTests {
    @Test("places an hour of rounded timestamps without gap or drift")
    func hour() {
        var clock = AudioSampleClock(rate: 44_100, samplesPerFrame: 1024)
        var expected: Int64?
        for index in 0..<Int64(3600 * 44_100 / 1024) {
            let milliseconds = 5 + index * 1024 * 1000 / 44_100
            guard case .at(let tick) = clock.place(milliseconds: milliseconds) else {
                Issue.record("frame \(index) was refused")
                return
            }
            if let expected { #expect(tick == expected) }
            expected = tick + 1024
        }
    }

    @Test("tolerates 20 ms, follows larger gaps, and reports overlaps and resets")
    func corrections() {
        var clock = AudioSampleClock(rate: 48_000, samplesPerFrame: 1024)
        #expect(clock.place(milliseconds: 1000) == .at(48_000))
        #expect(clock.place(milliseconds: 1040) == .at(49_024))
        #expect(clock.place(milliseconds: 1100) == .at(52_800))
        #expect(clock.place(milliseconds: 1100) == .overlapping)
        #expect(clock.place(milliseconds: 1110) == .at(53_824))
        #expect(clock.place(milliseconds: 100) == .backwards)
    }

    @Test("converts large times exactly")
    func late() {
        let clock = AudioSampleClock(rate: 44_100, samplesPerFrame: 1024)
        #expect(clock.tick(milliseconds: 1 << 34) == 757_632_231_014)
        #expect(clock.tick(milliseconds: 1) == 44)
    }
}
