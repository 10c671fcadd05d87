import Media
import NIOCore
import Testing

@Suite("What waits for a slow target is given up by rank and age")
struct CongestionQueueTests {
    private static func key(_ time: Int64, bytes: Int = 100) -> MediaPacket {
        picture(time, isKey: true, bytes: bytes)
    }

    private static func picture(
        _ time: Int64,
        isKey: Bool = false,
        isDisposable: Bool = false,
        bytes: Int = 100
    ) -> MediaPacket {
        .h264Picture(isKey: isKey, isDisposable: isDisposable, timestamp: time, capacity: bytes) {
            $0.writeRepeatingByte(1, count: bytes)
        }
    }

    private static func sound(_ time: Int64, bytes: Int = 10) -> MediaPacket {
        .aacFrame(timestamp: time, capacity: bytes) { $0.writeRepeatingByte(2, count: bytes) }
    }

    private static func configuration(_ time: Int64, byte: UInt8 = 1) -> MediaPacket {
        .h264Configuration(ByteBuffer(bytes: [byte]), timestamp: time)
    }

    private func drain(_ queue: inout CongestionQueue) -> [MediaPacket] {
        var packets: [MediaPacket] = []
        while let packet = queue.popFirst() { packets.append(packet) }
        return packets
    }

    @Test("a target that keeps up loses nothing and gets everything in order")
    func order() {
        var queue = CongestionQueue()
        for time in Int64(0)..<1000 {
            queue.append(time % 60 == 0 ? Self.key(time) : time % 3 == 0 ? Self.sound(time) : Self.picture(time))
            if queue.count > 5 { _ = queue.popFirst() }
        }
        #expect(queue.dropped.total == 0)
        #expect(drain(&queue).map { $0.timestamp } == [995, 996, 997, 998, 999])
        #expect(queue.bytes == 0)
    }

    @Test("above 700 ms disposable pictures go, and only they")
    func disposable() {
        var queue = CongestionQueue()
        queue.append(Self.key(0))
        for index in Int64(1)...20 { queue.append(Self.picture(index * 40, isDisposable: index % 2 == 0)) }
        #expect(queue.span <= 900)
        #expect(queue.dropped.disposablePictures == 10)
        #expect(queue.dropped.total == 10)
        #expect(!queue.isWaitingForKeyPicture)
    }

    @Test("above 900 ms pictures go until the next key picture, but never sound, configuration or key pictures")
    func pictures() {
        var queue = CongestionQueue()
        queue.append(Self.configuration(0))
        queue.append(Self.key(0))
        for index in Int64(1)...100 {
            queue.append(index == 50 ? Self.key(index * 20) : Self.picture(index * 20))
            queue.append(Self.sound(index * 20))
        }
        #expect(queue.isWaitingForKeyPicture)
        let packets = drain(&queue)
        #expect(packets.filter { $0.isAudio }.count == 100)
        #expect(packets.filter { $0.isKeyPicture }.count == 2)
        #expect(packets.first?.isConfiguration == true)
        #expect(packets.filter { $0.isVideo && !$0.isKeyPicture && !$0.isConfiguration }.isEmpty)
        #expect(queue.dropped.pictures == 99)
        #expect(queue.dropped.sounds == 0)

        queue.append(Self.picture(2020))
        #expect(queue.isEmpty)
        queue.append(Self.key(2040))
        queue.append(Self.picture(2060))
        #expect(queue.count == 2)
    }

    @Test("pictures of a newer group stay when only older ones had to go")
    func newerGroup() {
        var queue = CongestionQueue()
        queue.append(Self.picture(0))
        queue.append(Self.picture(800))
        queue.append(Self.key(950))
        #expect(!queue.isWaitingForKeyPicture)
        #expect(queue.count == 1)
        queue.append(Self.picture(980))
        #expect(queue.count == 2)
    }

    @Test("bytes are a hard limit: the oldest groups of pictures go whole")
    func bytes() {
        let late: Int64 = 100_000
        var queue = CongestionQueue(limits: .init(disposable: late, pictures: late, sound: late, bytes: 10_000))
        for group in Int64(0)..<10 {
            queue.append(Self.key(group * 100, bytes: 1000))
            for index in Int64(1)...9 { queue.append(Self.picture(group * 100 + index * 10, bytes: 300)) }
        }
        #expect(queue.bytes <= 10_000)
        let packets = drain(&queue)
        #expect(packets.first?.isKeyPicture == true)
        #expect(packets.last?.timestamp == 990)
        #expect(zip(packets, packets.dropFirst()).allSatisfy { $0.timestamp < $1.timestamp })
    }

    @Test("sound goes beyond five seconds, and never more than that waits")
    func sound() {
        var queue = CongestionQueue()
        for time in stride(from: Int64(0), through: 60_000, by: 20) { queue.append(Self.sound(time)) }
        #expect(queue.span <= 5000)
        #expect(queue.count == 251)
        #expect(queue.dropped.sounds == 2750)
    }

    @Test("where sound alone is to be carried, key pictures go too, and come again when the line is free")
    func keyPictures() {
        var queue = CongestionQueue(limits: .init(sound: 60_000, keyPictures: 2000))
        for time in stride(from: Int64(0), through: 6000, by: 20) {
            queue.append(Self.sound(time))
            if time % 1000 == 0 { queue.append(Self.key(time)) } else { queue.append(Self.picture(time)) }
        }
        #expect(queue.dropped.sounds == 0 && queue.dropped.keyPictures == 7)
        let sounds = drain(&queue)
        #expect(sounds.count == 301 && sounds.allSatisfy { $0.content == .sound(.aac) })
        queue.append(Self.picture(6010))
        #expect(queue.isEmpty && queue.isWaitingForKeyPicture)
        queue.append(Self.key(7000))
        queue.append(Self.picture(7020))
        #expect(queue.count == 2)
    }

    @Test("whatever comes in whatever order, the limits hold", arguments: UInt64(0)..<20)
    func bounded(seed: UInt64) {
        var random = Random(state: seed)
        var queue = CongestionQueue(limits: .init(bytes: 20_000))
        var time: Int64 = 0
        var given = 0
        var taken = 0
        for _ in 0..<3000 {
            time += Int64.random(in: 0...60, using: &random)
            let size = Int.random(in: 1...4000, using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0: queue.append(Self.key(time, bytes: size))
            case 1: queue.append(Self.configuration(time, byte: UInt8(truncatingIfNeeded: size)))
            case 2: queue.append(Self.sound(time, bytes: size))
            case 3: queue.append(Self.picture(time, isDisposable: true, bytes: size))
            case 4...8: queue.append(Self.picture(time, bytes: size))
            default:
                taken += queue.popFirst() == nil ? 0 : 1
                continue
            }
            given += 1
            #expect(queue.bytes <= 20_000)
            #expect(queue.span <= 5000)
            #expect(taken + queue.count + Int(queue.dropped.total) == given)
        }
        let bytes = queue.bytes
        #expect(drain(&queue).reduce(0) { $0 + $1.body.readableBytes } == bytes)
    }

    /// SplitMix64, so that a failure can be repeated.
    private struct Random: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
            return value ^ value >> 31
        }
    }
}
