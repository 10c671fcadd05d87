@testable import Ingest
import Media
import NIOCore
import Testing

@Suite("A host's timestamps on its feed's clock")
final class HostTimelineTests {
    private let origin = MonotonicTime(nanoseconds: 7_000_000_000)
    private lazy var timeline = HostTimeline(origin: origin)

    private func place(_ packet: MediaPacket, at milliseconds: Int64) -> Int64 {
        timeline.place(packet, arrival: origin.advanced(milliseconds: milliseconds))
    }

    private func picture(_ timestamp: Int64) -> MediaPacket {
        .h264Picture(isKey: true, isDisposable: false, timestamp: timestamp, capacity: 0) { _ in }
    }

    private func sound(_ timestamp: Int64) -> MediaPacket { .aacFrame(timestamp: timestamp, capacity: 0) { _ in } }

    @Test("The first packet lies at its arrival, wherever its clock begins", arguments: [0, 5, 3_600_000, 1 << 33])
    func first(start: Int64) {
        #expect(place(picture(start), at: 300) == 300)
        #expect(place(sound(start + 7), at: 301) == 307)
        #expect(place(picture(start + 40), at: 340) == 340)
        #expect(timeline.jumps == 0)
    }

    @Test("The relation of picture and sound is never altered")
    func relation() {
        for number in 0..<500 {
            let time = Int64(number) * 40
            let picture = place(picture(time), at: time + Int64(number % 7))
            let sound = place(sound(time + 13), at: time + Int64(number % 5))
            #expect(sound - picture == 13)
        }
        #expect(timeline.jumps == 0)
    }

    @Test("A burst after a stall of the network keeps its own distances")
    func burst() {
        for number in 0..<50 { _ = place(picture(Int64(number) * 40), at: Int64(number) * 40) }
        for number in 50..<300 { #expect(place(picture(Int64(number) * 40), at: 12_000) == Int64(number) * 40) }
        #expect(timeline.jumps == 0)
    }

    @Test("A pause of the encoder stays as long as it was")
    func pause() {
        #expect(place(picture(0), at: 0) == 0)
        #expect(place(picture(30_000), at: 30_000) == 30_000)
        #expect(timeline.jumps == 0)
    }

    @Test("A leap of the clock, forwards or backwards, goes on at the arrival", arguments: [7_200_000, -100_000])
    func leap(by leap: Int64) {
        for number in 0..<50 { _ = place(picture(200_000 + Int64(number) * 40), at: Int64(number) * 40) }
        #expect(place(picture(202_000 + leap), at: 2_000) == 2_000)
        #expect(place(sound(202_010 + leap), at: 2_010) == 2_010)
        #expect(place(picture(202_040 + leap), at: 2_045) == 2_040)
        #expect(timeline.jumps == 1)
    }

    @Test("A short clip played in a loop does not stand still, although each step back is short")
    func loop() {
        var last: Int64 = -1
        for number in 0..<400 {
            let placed = place(picture(Int64(number % 25) * 40), at: Int64(number) * 40)
            #expect(placed > last)
            #expect(placed == Int64(number) * 40)
            last = placed
        }
        #expect(timeline.jumps == 15)
    }

    @Test("Sound that lies behind the picture by less than two seconds is no leap")
    func interleaving() {
        for number in 0..<200 {
            let time = Int64(number) * 40
            #expect(place(picture(time + 1_500), at: time) == time)
            #expect(place(sound(time), at: time) == time - 1_500)
        }
        #expect(timeline.jumps == 0)
    }

    @Test("Headers and metadata stamped with 0 in the middle go where the media is, and set no clock")
    func headers() {
        let header = MediaPacket.aacConfiguration(ByteBuffer(bytes: [0x11, 0x90]), timestamp: 0)
        #expect(place(header, at: 5) == 5)
        #expect(place(picture(900_000), at: 10) == 10)
        #expect(place(header, at: 30) == 10)
        #expect(place(picture(900_040), at: 50) == 50)
        #expect(timeline.jumps == 0)
    }
}
