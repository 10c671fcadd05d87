import Media
import NIOCore
import Testing

@testable import Mixer

@Suite("Interleaver") struct InterleaverTests {
    private func video(_ timestamp: Int64) -> MediaPacket {
        .h264Frame(isKey: false, isDisposable: false, timestamp: timestamp, capacity: 0) { _ in }
    }

    private func audio(_ timestamp: Int64) -> MediaPacket {
        .aacFrame(timestamp: timestamp, capacity: 0) { _ in }
    }

    private func drain(_ interleaver: inout Interleaver) -> [Int64] {
        var times: [Int64] = []
        while let packet = interleaver.next() { times.append(packet.timestamp) }
        return times
    }

    @Test("a packet is emitted exactly when nothing earlier can follow")
    func promises() {
        var interleaver = Interleaver()
        interleaver.append(video(0))
        interleaver.setVideoWatermark(33)
        let out1 = drain(&interleaver)
        #expect(out1 == [])
        interleaver.setAudioWatermark(-5)
        let out2 = drain(&interleaver)
        #expect(out2 == [])
        interleaver.append(audio(0))
        interleaver.setAudioWatermark(21)
        let out3 = drain(&interleaver)
        #expect(out3 == [0, 0])
        interleaver.append(audio(21))
        interleaver.append(audio(42))
        interleaver.setAudioWatermark(64)
        let out4 = drain(&interleaver)
        #expect(out4 == [21])
        interleaver.append(video(33))
        interleaver.setVideoWatermark(66)
        let out5 = drain(&interleaver)
        #expect(out5 == [33, 42])
    }

    @Test("an encoder that emits nothing does not delay the other")
    func oneFails() {
        var interleaver = Interleaver()
        for index in Int64(0)..<10 {
            interleaver.append(video(index * 33))
            interleaver.setVideoWatermark((index + 1) * 33)
            interleaver.setAudioWatermark((index + 1) * 33)
        }
        let out6 = drain(&interleaver)
        #expect(out6 == (0..<10).map { $0 * 33 })
    }
}
