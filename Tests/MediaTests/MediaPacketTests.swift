import Media
import NIOCore
import Testing

@Suite("Packets as FLV tag bodies")
struct MediaPacketTests {
    @Test("an H.264 frame begins with the legacy header and its signed composition time")
    func videoHeader() {
        let packet = MediaPacket.h264Frame(
            isKey: true,
            isDisposable: false,
            timestamp: 40,
            compositionOffset: -33,
            capacity: 3
        ) { $0.writeBytes([1, 2, 3]) }
        #expect(Array(packet.body.readableBytesView) == [0x17, 1, 0xFF, 0xFF, 0xDF, 1, 2, 3])
        #expect(Array(packet.payload.readableBytesView) == [1, 2, 3])
        #expect(packet.presentationTimestamp == 7)
        #expect(packet.isKeyframe)
    }

    @Test("a disposable frame says so in its frame type")
    func disposable() {
        let packet = MediaPacket.h264Frame(isKey: false, isDisposable: true, timestamp: 0, capacity: 0) { _ in }
        #expect(packet.body.getInteger(at: 0) == UInt8(0x37))
    }

    @Test("an AAC frame carries 0xAF and its packet type")
    func aacFrame() {
        let frame = MediaPacket.aacFrame(timestamp: 5, capacity: 2) { $0.writeBytes([9, 8]) }
        #expect(Array(frame.body.readableBytesView) == [0xAF, 1, 9, 8])
        let configuration = MediaPacket.aacConfiguration(ByteBuffer(bytes: [0x11, 0x90]), timestamp: 0)
        #expect(Array(configuration.body.readableBytesView) == [0xAF, 0, 0x11, 0x90])
        #expect(configuration.isConfiguration)
    }

    @Test("a header longer than the body leaves an empty payload")
    func shortBody() {
        let packet = MediaPacket(content: .audio(.aac), timestamp: 0, body: ByteBuffer(bytes: [1]), headerLength: 5)
        #expect(packet.payload.readableBytes == 0)
    }
}
