import Media
import NIOCore
import Testing

@Suite("A program's clock over changes of publisher")
struct ProgramTimelineTests {
    private let start = MonotonicTime(nanoseconds: 5_000_000_000)
    private var timeline = ProgramTimeline()

    private mutating func frame(_ timestamp: Int64, after milliseconds: Int64 = 0) -> Int64 {
        let content = MediaPacket.Content.video(.h264, isKey: false, isDisposable: false)
        return timeline.place(packet(content, timestamp), arrival: start.advanced(milliseconds: milliseconds))
    }

    private mutating func audioPart(_ timestamp: Int64, after milliseconds: Int64 = 0) -> Int64 {
        timeline.place(packet(.audio(.aac), timestamp), arrival: start.advanced(milliseconds: milliseconds))
    }

    private func packet(_ content: MediaPacket.Content, _ timestamp: Int64) -> MediaPacket {
        MediaPacket(content: content, timestamp: timestamp, body: ByteBuffer(), headerLength: 0)
    }

    @Test("the first publisher begins at zero wherever its own clock stands")
    mutating func firstPublisher() {
        #expect(frame(90_000) == 0)
        #expect(frame(90_033, after: 33) == 33)
    }

    @Test("a new publisher continues after as long a gap as really passed")
    mutating func takeover() {
        _ = frame(0)
        _ = frame(1_000, after: 1_000)
        timeline.beginPublisher()
        #expect(frame(0, after: 2_400) == 2_400)
        #expect(frame(40, after: 2_440) == 2_440)
    }

    @Test("time never steps back, not even when a packet is late")
    mutating func monotonic() {
        _ = frame(100)
        _ = frame(140)
        #expect(frame(120) == 40)
        timeline.beginPublisher()
        #expect(frame(9_000) == 41)
    }

    @Test("audio that comes behind its frames keeps its own time, and a new publisher is behind both")
    mutating func interleaving() {
        _ = frame(1_000)
        _ = audioPart(1_000)
        #expect(
            [frame(1_033), frame(1_066), audioPart(1_021), audioPart(1_042), audioPart(1_064)] == [33, 66, 21, 42, 64]
        )
        #expect(audioPart(1_050) == 64)
        timeline.beginPublisher()
        #expect([audioPart(0), frame(0)] == [67, 67])
    }
}

@Suite("Moments of the monotonic clock")
struct MonotonicTimeTests {
    @Test("A moment in a time that no clock reaches is a century away, and one in no time at all is now")
    func advanced() {
        let now = MonotonicTime(nanoseconds: 1 << 40)
        let century = now.advanced(seconds: 3_155_760_000)
        for seconds in [1e10, 1e300, Double.infinity] {
            #expect(now.advanced(seconds: seconds) == century)
            #expect(now.advanced(seconds: -seconds) < now)
        }
        #expect(now.advanced(seconds: .nan) == now)
        #expect(now.advanced(seconds: 1.5).nanoseconds == now.nanoseconds + 1_500_000_000)
    }
}
