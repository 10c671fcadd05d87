import Media
import NIOCore
import Testing

@Suite("A program's clock over changes of publisher")
struct ProgramTimelineTests {
    private let start = MonotonicTime(nanoseconds: 5_000_000_000)
    private var timeline = ProgramTimeline()

    private mutating func picture(_ timestamp: Int64, after milliseconds: Int64 = 0) -> Int64 {
        let content = MediaPacket.Content.picture(.h264, isKey: false, isDisposable: false)
        return timeline.place(packet(content, timestamp), arrival: start.advanced(milliseconds: milliseconds))
    }

    private mutating func sound(_ timestamp: Int64, after milliseconds: Int64 = 0) -> Int64 {
        timeline.place(packet(.sound(.aac), timestamp), arrival: start.advanced(milliseconds: milliseconds))
    }

    private func packet(_ content: MediaPacket.Content, _ timestamp: Int64) -> MediaPacket {
        MediaPacket(content: content, timestamp: timestamp, body: ByteBuffer(), headerLength: 0)
    }

    @Test("the first publisher begins at zero wherever its own clock stands")
    mutating func firstPublisher() {
        #expect(picture(90_000) == 0)
        #expect(picture(90_033, after: 33) == 33)
    }

    @Test("a new publisher continues after as long a gap as really passed")
    mutating func takeover() {
        _ = picture(0)
        _ = picture(1_000, after: 1_000)
        timeline.beginPublisher()
        #expect(picture(0, after: 2_400) == 2_400)
        #expect(picture(40, after: 2_440) == 2_440)
    }

    @Test("time never steps back, not even when a packet is late")
    mutating func monotonic() {
        _ = picture(100)
        _ = picture(140)
        #expect(picture(120) == 40)
        timeline.beginPublisher()
        #expect(picture(9_000) == 41)
    }

    @Test("sound that comes behind its pictures keeps its own time, and a new publisher is behind both")
    mutating func interleaving() {
        _ = picture(1_000)
        _ = sound(1_000)
        #expect([picture(1_033), picture(1_066), sound(1_021), sound(1_042), sound(1_064)] == [33, 66, 21, 42, 64])
        #expect(sound(1_050) == 64)
        timeline.beginPublisher()
        #expect([sound(0), picture(0)] == [67, 67])
    }
}
