@testable import Ingest
import Media
import NIOCore
import Testing

@Suite("Publish timeline")
final class PublishTimelineTests {
    private let origin = MonotonicTime(nanoseconds: 7_000_000_000)
    private lazy var timeline = PublishTimeline(origin: origin)

    private func rebase(_ packet: MediaPacket, at milliseconds: Int64) -> Int64 {
        timeline.rebase(packet, arrival: origin.advanced(milliseconds: milliseconds))
    }

    private func videoFrame(_ timestamp: Int64) -> MediaPacket {
        .h264Frame(isKey: true, isDisposable: false, timestamp: timestamp, capacity: 0) { _ in }
    }

    private func audioFrame(_ timestamp: Int64) -> MediaPacket { .aacFrame(timestamp: timestamp, capacity: 0) { _ in } }

    @Test("maps the first packet to its arrival, whatever its timestamp", arguments: [0, 5, 3_600_000, 1 << 33])
    func first(start: Int64) {
        #expect(rebase(videoFrame(start), at: 300) == 300)
        #expect(rebase(audioFrame(start + 7), at: 301) == 307)
        #expect(rebase(videoFrame(start + 40), at: 340) == 340)
        #expect(timeline.jumps == 0)
    }

    @Test("preserves the offset between audio and video")
    func relation() {
        for number in 0..<500 {
            let time = Int64(number) * 40
            let video = rebase(videoFrame(time), at: time + Int64(number % 7))
            let audio = rebase(audioFrame(time + 13), at: time + Int64(number % 5))
            #expect(audio - video == 13)
        }
        #expect(timeline.jumps == 0)
    }

    @Test("preserves the intervals of a burst after a network stall")
    func burst() {
        for number in 0..<50 { _ = rebase(videoFrame(Int64(number) * 40), at: Int64(number) * 40) }
        for number in 50..<300 { #expect(rebase(videoFrame(Int64(number) * 40), at: 12_000) == Int64(number) * 40) }
        #expect(timeline.jumps == 0)
    }

    @Test("preserves a pause of the encoder")
    func pause() {
        #expect(rebase(videoFrame(0), at: 0) == 0)
        #expect(rebase(videoFrame(30_000), at: 30_000) == 30_000)
        #expect(timeline.jumps == 0)
    }

    @Test("continues at the arrival after a clock jump in either direction", arguments: [7_200_000, -100_000])
    func jump(by jump: Int64) {
        for number in 0..<50 { _ = rebase(videoFrame(200_000 + Int64(number) * 40), at: Int64(number) * 40) }
        #expect(rebase(videoFrame(202_000 + jump), at: 2_000) == 2_000)
        #expect(rebase(audioFrame(202_010 + jump), at: 2_010) == 2_010)
        #expect(rebase(videoFrame(202_040 + jump), at: 2_045) == 2_040)
        #expect(timeline.jumps == 1)
    }

    @Test("keeps advancing for a short looped clip")
    func loop() {
        var last: Int64 = -1
        for number in 0..<400 {
            let rebased = rebase(videoFrame(Int64(number % 25) * 40), at: Int64(number) * 40)
            #expect(rebased > last)
            #expect(rebased == Int64(number) * 40)
            last = rebased
        }
        #expect(timeline.jumps == 15)
    }

    @Test("does not treat audio up to two seconds behind video as a jump")
    func interleaving() {
        for number in 0..<200 {
            let time = Int64(number) * 40
            #expect(rebase(videoFrame(time + 1_500), at: time) == time)
            #expect(rebase(audioFrame(time), at: time) == time - 1_500)
        }
        #expect(timeline.jumps == 0)
    }

    @Test("maps headers and metadata with timestamp 0 to the media time")
    func headers() {
        let header = MediaPacket.aacConfiguration(ByteBuffer(bytes: [0x11, 0x90]), timestamp: 0)
        #expect(rebase(header, at: 5) == 5)
        #expect(rebase(videoFrame(900_000), at: 10) == 10)
        #expect(rebase(header, at: 30) == 10)
        #expect(rebase(videoFrame(900_040), at: 50) == 50)
        #expect(timeline.jumps == 0)
    }
}
