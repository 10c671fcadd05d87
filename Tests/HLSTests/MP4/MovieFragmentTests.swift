@testable import HLS
import NIOCore
import Testing

@Suite("A movie fragment holds its media at the times and places it says")
struct MovieFragmentTests {
    private func picture(
        _ time: Int64,
        offset: Int32 = 0,
        key: Bool = false,
        disposable: Bool = false,
        _ bytes: [UInt8]
    ) -> MovieFragment.Picture {
        MovieFragment.Picture(
            time: time,
            compositionOffset: offset,
            isKey: key,
            isDisposable: disposable,
            payload: ByteBuffer(bytes: bytes)
        )
    }

    @Test("pictures and sounds come back byte for byte, with times beyond 32 bits and signed offsets")
    func roundTrip() throws {
        let base: Int64 = 1 << 40
        var fragment = MovieFragment()
        fragment.append(picture(base, offset: 6000, key: true, [1, 2, 3]))
        fragment.append(picture(base + 3000, offset: -3000, disposable: true, [4]))
        fragment.append(MovieFragment.Sound(time: 7, payload: ByteBuffer(bytes: [8, 9])))
        fragment.append(picture(base + 6060, [5, 6]))
        fragment.append(MovieFragment.Sound(time: 7 + 1024, payload: ByteBuffer(bytes: [10])))
        let read = try Fragment(fragment.write(number: 77, pictureEnd: base + 9000, soundLength: 1024))
        #expect(read.number == 77)
        #expect(read.video?.baseTime == base)
        #expect(read.video?.durations == [3000, 3060, 2940])
        #expect(read.video?.compositionOffsets == [6000, -3000, 0])
        #expect(read.video?.flags == [0x0200_0000, 0x0181_0000, 0x0101_0000])
        #expect(read.video?.samples == [[1, 2, 3], [4], [5, 6]])
        #expect(read.audio?.baseTime == 7)
        #expect(read.audio?.durations == [1024, 1024])
        #expect(read.audio?.flags == [0x0200_0000, 0x0200_0000])
        #expect(read.audio?.samples == [[8, 9], [10]])
    }

    @Test("a sound before a gap lasts until the gap ends")
    func gap() throws {
        var fragment = MovieFragment()
        for time: Int64 in [0, 1024, 5000] {
            fragment.append(MovieFragment.Sound(time: time, payload: ByteBuffer(bytes: [1])))
        }
        let read = try Fragment(fragment.write(number: 1, pictureEnd: 0, soundLength: 1024))
        #expect(read.video == nil)
        #expect(read.audio?.durations == [1024, 3976, 1024])
    }
}
