import Media
import NIOCore
import TestSupport
import Testing

@Suite("What waits for a slow target is given up by rank and age", .enabled(if: TestRun.isFull))
struct CongestionQueueTests {
    private static func key(_ time: Int64, bytes: Int = 100) -> MediaPacket {
        frame(time, isKey: true, bytes: bytes)
    }

    private static func frame(
        _ time: Int64,
        isKey: Bool = false,
        isDisposable: Bool = false,
        bytes: Int = 100
    ) -> MediaPacket {
        .h264Frame(isKey: isKey, isDisposable: isDisposable, timestamp: time, capacity: bytes) {
            $0.writeRepeatingByte(1, count: bytes)
        }
    }

    private static func audioFrame(_ time: Int64, bytes: Int = 10) -> MediaPacket {
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
            queue.append(time % 60 == 0 ? Self.key(time) : time % 3 == 0 ? Self.audioFrame(time) : Self.frame(time))
            if queue.count > 5 { _ = queue.popFirst() }
        }
        #expect(queue.dropped.total == 0)
        #expect(drain(&queue).map { $0.timestamp } == [995, 996, 997, 998, 999])
        #expect(queue.bytes == 0)
    }

    @Test("above 700 ms disposable frames go, and only they")
    func disposable() {
        var queue = CongestionQueue()
        queue.append(Self.key(0))
        for index in Int64(1)...20 { queue.append(Self.frame(index * 40, isDisposable: index % 2 == 0)) }
        #expect(queue.span <= 900)
        #expect(queue.dropped.disposableFrames == 10)
        #expect(queue.dropped.total == 10)
        #expect(!queue.isWaitingForKeyframe)
    }

    @Test("above 900 ms frames go until the next keyframe, but never audio, configuration or keyframes")
    func frames() {
        var queue = CongestionQueue()
        queue.append(Self.configuration(0))
        queue.append(Self.key(0))
        for index in Int64(1)...100 {
            queue.append(index == 50 ? Self.key(index * 20) : Self.frame(index * 20))
            queue.append(Self.audioFrame(index * 20))
        }
        #expect(queue.isWaitingForKeyframe)
        let packets = drain(&queue)
        #expect(packets.filter { $0.isAudio }.count == 100)
        #expect(packets.filter { $0.isKeyframe }.count == 2)
        #expect(packets.first?.isConfiguration == true)
        #expect(packets.filter { $0.isVideo && !$0.isKeyframe && !$0.isConfiguration }.isEmpty)
        #expect(queue.dropped.referenceFrames == 99)
        #expect(queue.dropped.audioFrames == 0)

        queue.append(Self.frame(2020))
        #expect(queue.isEmpty)
        queue.append(Self.key(2040))
        queue.append(Self.frame(2060))
        #expect(queue.count == 2)
    }

    @Test("frames of a newer group stay when only older ones had to go")
    func newerGroup() {
        var queue = CongestionQueue()
        queue.append(Self.frame(0))
        queue.append(Self.frame(800))
        queue.append(Self.key(950))
        #expect(!queue.isWaitingForKeyframe)
        #expect(queue.count == 1)
        queue.append(Self.frame(980))
        #expect(queue.count == 2)
    }

    @Test("bytes are a hard limit: the oldest GOPs go whole")
    func bytes() {
        let late: Int64 = 100_000
        var queue = CongestionQueue(limits: .init(disposable: late, frames: late, audio: late, bytes: 10_000))
        for group in Int64(0)..<10 {
            queue.append(Self.key(group * 100, bytes: 1000))
            for index in Int64(1)...9 { queue.append(Self.frame(group * 100 + index * 10, bytes: 300)) }
        }
        #expect(queue.bytes <= 10_000)
        let packets = drain(&queue)
        #expect(packets.first?.isKeyframe == true)
        #expect(packets.last?.timestamp == 990)
        #expect(zip(packets, packets.dropFirst()).allSatisfy { $0.timestamp < $1.timestamp })
    }

    @Test("audio goes beyond five seconds, and never more than that waits")
    func audioLimit() {
        var queue = CongestionQueue()
        for time in stride(from: Int64(0), through: 60_000, by: 20) { queue.append(Self.audioFrame(time)) }
        #expect(queue.span <= 5000)
        #expect(queue.count == 251)
        #expect(queue.dropped.audioFrames == 2750)
    }

    @Test("where audio alone is to be carried, keyframes go too, and come again when the line is free")
    func keyframes() {
        var queue = CongestionQueue(limits: .init(audio: 60_000, keyframes: 2000))
        for time in stride(from: Int64(0), through: 6000, by: 20) {
            queue.append(Self.audioFrame(time))
            if time % 1000 == 0 { queue.append(Self.key(time)) } else { queue.append(Self.frame(time)) }
        }
        #expect(queue.dropped.audioFrames == 0 && queue.dropped.keyframes == 7)
        let audioPackets = drain(&queue)
        #expect(audioPackets.count == 301 && audioPackets.allSatisfy { $0.content == .audio(.aac) })
        queue.append(Self.frame(6010))
        #expect(queue.isEmpty && queue.isWaitingForKeyframe)
        queue.append(Self.key(7000))
        queue.append(Self.frame(7020))
        #expect(queue.count == 2)
    }

    @Test("whatever comes in whatever order, the limits hold", arguments: UInt64(0)..<20)
    func bounded(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
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
            case 2: queue.append(Self.audioFrame(time, bytes: size))
            case 3: queue.append(Self.frame(time, isDisposable: true, bytes: size))
            case 4...8: queue.append(Self.frame(time, bytes: size))
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

}
