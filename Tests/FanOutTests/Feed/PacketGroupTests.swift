@testable import FanOut
import Media
import NIOCore
import Testing

@Suite("The group of packets a newcomer starts from")
struct PacketGroupTests {
    private var group = PacketGroup(limit: (8_000, 8 << 20))

    private mutating func take(_ batch: MediaPacket...) {
        group.append(batch, start: group.startingPoint(in: batch))
    }

    private var kept: [Int64] { group.packets.map(\.timestamp) }

    @Test("It begins at the latest key picture")
    mutating func latestKey() {
        take(Packets.video(), Packets.audio(), Packets.key(0), Packets.picture(40))
        take(Packets.sound(50))
        #expect(kept == [0, 40, 50])
        take(Packets.picture(80), Packets.key(120), Packets.sound(130))
        #expect(kept == [120, 130])
    }

    @Test("Of two key pictures in a batch the later one counts")
    mutating func twoKeys() {
        take(Packets.video(), Packets.key(0), Packets.key(40), Packets.picture(80))
        #expect(kept == [40, 80])
    }

    @Test("A configuration right before a key picture is in the opening, and not a second time among the packets")
    mutating func configurationBeforeKey() {
        take(Packets.sound(90), Packets.video(100), Packets.audio(100), Packets.key(100))
        #expect(group.opening.map(\.content) == [.videoConfiguration(.h264), .audioConfiguration(.aac)])
        #expect(group.packets.map(\.isKeyPicture) == [true])
    }

    @Test("Pictures before the first key picture are of no use and are not kept")
    mutating func beforeFirstKey() {
        take(Packets.video(), Packets.picture(0), Packets.sound(10))
        #expect(group.packets.isEmpty)
        #expect(group.opening.map(\.content) == [.videoConfiguration(.h264)])
    }

    @Test("What a newcomer is told first is the configuration at the group's beginning, not a later one")
    mutating func openingIsOfItsTime() {
        take(Packets.audio(0), Packets.video(0), Packets.key(0))
        take(Packets.audio(500, [0x12, 0x10]), Packets.sound(510))
        let opening = group.opening.map { Array($0.payload.readableBytesView) }
        #expect(opening == [Packets.avcRecord, [0x11, 0x90]])
        #expect(group.packets.map(\.content).contains(.audioConfiguration(.aac)))
        take(Packets.key(1_000))
        #expect(group.opening.map { Array($0.payload.readableBytesView) } == [Packets.avcRecord, [0x12, 0x10]])
    }

    @Test("A feed without video can be joined at any sound")
    mutating func soundOnly() {
        take(Packets.audio())
        take(Packets.sound(0), Packets.sound(21))
        #expect(kept == [0, 21])
        take(Packets.sound(42))
        #expect(kept == [42])
    }

    @Test("Sound is no start while pictures flow, and is one two seconds after the last")
    mutating func picturesStop() {
        take(Packets.video(), Packets.key(0))
        take(Packets.sound(1_900))
        #expect(kept == [0, 1_900])
        take(Packets.sound(2_010))
        #expect(kept == [2_010])
        take(Packets.picture(2_020), Packets.sound(2_030))
        #expect(kept == [2_010, 2_020, 2_030])
    }

    @Test("Video that was announced but never came is given up after two seconds")
    mutating func announcedOnly() {
        take(Packets.video(0), Packets.audio(0))
        take(Packets.sound(20))
        #expect(group.packets.isEmpty)
        take(Packets.sound(2_020))
        #expect(kept == [2_020])
    }

    @Test("A configuration in the same batch tells that video is coming")
    mutating func announcedInBatch() {
        #expect(group.startingPoint(in: [Packets.video(0), Packets.sound(0)]) == nil)
    }

    @Test("A group longer than eight seconds is dropped, and nothing is kept until the next start")
    mutating func tooLong() {
        take(Packets.video(), Packets.key(0))
        for time in stride(from: 40, through: 8_000, by: 40) { take(Packets.picture(Int64(time))) }
        #expect(group.packets.count == 201)
        take(Packets.picture(8_040))
        #expect(group.packets.isEmpty)
        take(Packets.picture(8_080))
        #expect(group.packets.isEmpty)
        take(Packets.key(8_120))
        #expect(kept == [8_120])
    }

    @Test("A group of more than eight mebibytes is dropped")
    mutating func tooLarge() {
        take(Packets.video(), Packets.key(0, bytes: 4 << 20))
        take(Packets.picture(40, bytes: 3 << 20))
        #expect(group.packets.count == 2)
        take(Packets.picture(80, bytes: 2 << 20))
        #expect(group.packets.isEmpty)
    }
}
