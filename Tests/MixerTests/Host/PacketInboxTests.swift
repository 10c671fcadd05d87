import Media
import NIOCore
import Testing

@testable import Mixer

@Suite("A host's inbox") struct PacketInboxTests {
    private func picture(_ timestamp: Int64, isKey: Bool, size: Int = 100) -> MediaPacket {
        .h264Picture(isKey: isKey, isDisposable: false, timestamp: timestamp, capacity: size) {
            $0.writeRepeatingByte(0, count: size)
        }
    }

    private func sound(_ timestamp: Int64) -> MediaPacket {
        .aacFrame(timestamp: timestamp, capacity: 10) { $0.writeRepeatingByte(0, count: 10) }
    }

    private let configuration = MediaPacket.h264Configuration(ByteBuffer(repeating: 1, count: 20), timestamp: 0)

    private func drain(_ inbox: inout PacketInbox) -> [MediaPacket] {
        var packets: [MediaPacket] = []
        while let packet = inbox.popPicture() { packets.append(packet) }
        return packets
    }

    @Test("Thirty seconds at once leave the newest three, beginning with the configuration and a key picture")
    func burst() {
        var inbox = PacketInbox()
        inbox.append(configuration)
        for index in 0..<900 {
            inbox.append(picture(Int64(index) * 1000 / 30, isKey: index % 60 == 0))
        }
        let kept = drain(&inbox)
        #expect(kept.first?.content == .videoConfiguration(.h264))
        #expect(kept[1].isKeyPicture)
        #expect(kept[1].timestamp >= 26_000)
        #expect(kept.last?.timestamp == 29_966)
        let media = kept.dropFirst()
        #expect(zip(media, media.dropFirst()).allSatisfy { $1.timestamp - $0.timestamp <= 34 })
        #expect(inbox.droppedPackets == 900 - Int64(media.count))
        #expect(inbox.droppedGroups == inbox.droppedPackets / 60)
    }

    @Test("A single long group of pictures stays, for a join begins with one")
    func longGroup() {
        var inbox = PacketInbox()
        for index in 0..<300 { inbox.append(picture(Int64(index) * 1000 / 30, isKey: index == 0)) }
        let out1 = drain(&inbox).count
        #expect(out1 == 300)
        #expect(inbox.droppedPackets == 0)
    }

    @Test("A group without end is dropped whole, and nothing is taken until the next key picture")
    func endlessGroup() {
        var inbox = PacketInbox()
        inbox.append(configuration)
        for index in 0..<500 { inbox.append(picture(Int64(index) * 1000 / 30, isKey: index == 0)) }
        inbox.append(picture(17_000, isKey: true))
        inbox.append(picture(17_033, isKey: false))
        let kept = drain(&inbox)
        #expect(kept.map(\.timestamp).suffix(2) == [17_000, 17_033])
        #expect(kept.count == 3)
        #expect(kept.first?.content == .videoConfiguration(.h264))
    }

    @Test("Huge pictures are bounded in bytes, whatever their times say")
    func bytes() {
        var inbox = PacketInbox()
        for index in 0..<100 { inbox.append(picture(Int64(index), isKey: index % 10 == 0, size: 1 << 20)) }
        let kept = drain(&inbox)
        #expect(kept.reduce(0) { $0 + $1.body.readableBytes } <= PacketInbox.largestSize)
        #expect(kept.first?.isKeyPicture == true)
        #expect(kept.last?.timestamp == 99)
    }

    @Test("What is hopelessly late is left out up to the newest group whose turn has come")
    func catchUp() {
        var inbox = PacketInbox()
        inbox.append(configuration)
        for index in 0..<75 { inbox.append(picture(Int64(index) * 1000 / 30, isKey: index % 15 == 0)) }
        // Keys at 0, 500, 1000, 1500, 2000. Late by less than half a second: everything is decoded.
        inbox.catchUp(to: 450)
        #expect(inbox.droppedPackets == 0)
        inbox.catchUp(to: 1700)
        #expect(inbox.droppedGroups == 3 && inbox.droppedPackets == 45)
        let kept = drain(&inbox)
        #expect(kept.first?.content == .videoConfiguration(.h264))
        #expect(kept[1].isKeyPicture && kept[1].timestamp == 1500)
    }

    @Test("Sound is bounded too, and keeps its configuration")
    func soundBound() {
        var inbox = PacketInbox()
        inbox.append(.aacConfiguration(ByteBuffer(bytes: [0x11, 0x90]), timestamp: 0))
        for index in 0..<1000 { inbox.append(sound(Int64(index) * 64 / 3)) }
        let first = inbox.popSound()
        #expect(first?.content == .audioConfiguration(.aac))
        let second = inbox.popSound()
        #expect((second?.timestamp ?? 0) >= 18_000)
    }
}
