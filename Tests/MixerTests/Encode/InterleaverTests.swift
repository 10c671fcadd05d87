import Media
import NIOCore
import Testing

@testable import Mixer

@Suite("One order of pictures and sound") struct InterleaverTests {
    private func picture(_ timestamp: Int64) -> MediaPacket {
        .h264Picture(isKey: false, isDisposable: false, timestamp: timestamp, capacity: 0) { _ in }
    }

    private func sound(_ timestamp: Int64) -> MediaPacket {
        .aacFrame(timestamp: timestamp, capacity: 0) { _ in }
    }

    private func drain(_ interleaver: inout Interleaver) -> [Int64] {
        var times: [Int64] = []
        while let packet = interleaver.next() { times.append(packet.timestamp) }
        return times
    }

    @Test("A packet leaves when nothing earlier can come, and not before")
    func promises() {
        var interleaver = Interleaver()
        interleaver.append(picture(0))
        interleaver.promisePictures(from: 33)
        let out1 = drain(&interleaver)
        #expect(out1 == [])
        interleaver.promiseSounds(from: -5)
        let out2 = drain(&interleaver)
        #expect(out2 == [])
        interleaver.append(sound(0))
        interleaver.promiseSounds(from: 21)
        let out3 = drain(&interleaver)
        #expect(out3 == [0, 0])
        interleaver.append(sound(21))
        interleaver.append(sound(42))
        interleaver.promiseSounds(from: 64)
        let out4 = drain(&interleaver)
        #expect(out4 == [21])
        interleaver.append(picture(33))
        interleaver.promisePictures(from: 66)
        let out5 = drain(&interleaver)
        #expect(out5 == [33, 42])
    }

    @Test("An encoder that gives nothing does not hold the other one up")
    func oneFails() {
        var interleaver = Interleaver()
        for index in Int64(0)..<10 {
            interleaver.append(picture(index * 33))
            interleaver.promisePictures(from: (index + 1) * 33)
            interleaver.promiseSounds(from: (index + 1) * 33)
        }
        let out6 = drain(&interleaver)
        #expect(out6 == (0..<10).map { $0 * 33 })
    }
}
