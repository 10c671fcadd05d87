import Media
import NIOCore
import Testing

@testable import Mixer

@Suite("Packet inbox") struct PacketInboxTests {
    private func frame(_ timestamp: Int64, isKey: Bool, size: Int = 100) -> MediaPacket {
        .h264Frame(isKey: isKey, isDisposable: false, timestamp: timestamp, capacity: size) {
            $0.writeRepeatingByte(0, count: size)
        }
    }

    private func audio(_ timestamp: Int64) -> MediaPacket {
        .aacFrame(timestamp: timestamp, capacity: 10) { $0.writeRepeatingByte(0, count: 10) }
    }

    private let configuration = MediaPacket.h264Configuration(ByteBuffer(repeating: 1, count: 20), timestamp: 0)

    private func drain(_ inbox: inout PacketInbox) -> [MediaPacket] {
        var packets: [MediaPacket] = []
        while let packet = inbox.popVideo() { packets.append(packet) }
        return packets
    }

    @Test("thirty seconds at once leave the newest three, beginning with the configuration and a keyframe")
    func burst() {
        var inbox = PacketInbox()
        inbox.append(configuration)
        for index in 0..<900 {
            inbox.append(frame(Int64(index) * 1000 / 30, isKey: index % 60 == 0))
        }
        let queued = drain(&inbox)
        #expect(queued.first?.content == .videoConfiguration(.h264))
        #expect(queued[1].isKeyframe)
        #expect(queued[1].timestamp >= 26_000)
        #expect(queued.last?.timestamp == 29_966)
        let media = queued.dropFirst()
        #expect(zip(media, media.dropFirst()).allSatisfy { $1.timestamp - $0.timestamp <= 34 })
        #expect(inbox.droppedPackets == 900 - Int64(media.count))
        #expect(inbox.droppedGOPs == inbox.droppedPackets / 60)
    }

    @Test("a single long GOP stays, for a join begins with one")
    func longGOP() {
        var inbox = PacketInbox()
        for index in 0..<300 { inbox.append(frame(Int64(index) * 1000 / 30, isKey: index == 0)) }
        let out1 = drain(&inbox).count
        #expect(out1 == 300)
        #expect(inbox.droppedPackets == 0)
    }

    @Test("an endless GOP is dropped whole, and packets are rejected until the next keyframe")
    func endlessGOP() {
        var inbox = PacketInbox()
        inbox.append(configuration)
        for index in 0..<500 { inbox.append(frame(Int64(index) * 1000 / 30, isKey: index == 0)) }
        inbox.append(frame(17_000, isKey: true))
        inbox.append(frame(17_033, isKey: false))
        let queued = drain(&inbox)
        #expect(queued.map(\.timestamp).suffix(2) == [17_000, 17_033])
        #expect(queued.count == 3)
        #expect(queued.first?.content == .videoConfiguration(.h264))
    }

    @Test("huge frames are bounded in bytes, whatever their timestamps")
    func bytes() {
        var inbox = PacketInbox()
        for index in 0..<100 { inbox.append(frame(Int64(index), isKey: index % 10 == 0, size: 1 << 20)) }
        let queued = drain(&inbox)
        #expect(queued.reduce(0) { $0 + $1.body.readableBytes } <= PacketInbox.maximumSize)
        #expect(queued.first?.isKeyframe == true)
        #expect(queued.last?.timestamp == 99)
    }

    @Test("frames that are too late are dropped up to the newest due GOP")
    func catchUp() {
        var inbox = PacketInbox()
        inbox.append(configuration)
        for index in 0..<75 { inbox.append(frame(Int64(index) * 1000 / 30, isKey: index % 15 == 0)) }
        // Keyframes at 0, 500, 1000, 1500, 2000. Late by less than half a second: everything is decoded.
        inbox.catchUp(to: 450)
        #expect(inbox.droppedPackets == 0)
        inbox.catchUp(to: 1700)
        #expect(inbox.droppedGOPs == 3 && inbox.droppedPackets == 45)
        let queued = drain(&inbox)
        #expect(queued.first?.content == .videoConfiguration(.h264))
        #expect(queued[1].isKeyframe && queued[1].timestamp == 1500)
    }

    @Test("audio is bounded too, and keeps its configuration")
    func audioLimit() {
        var inbox = PacketInbox()
        inbox.append(.aacConfiguration(ByteBuffer(bytes: [0x11, 0x90]), timestamp: 0))
        for index in 0..<1000 { inbox.append(audio(Int64(index) * 64 / 3)) }
        let first = inbox.popAudio()
        #expect(first?.content == .audioConfiguration(.aac))
        let second = inbox.popAudio()
        #expect((second?.timestamp ?? 0) >= 18_000)
    }
}

@Suite("Decode batches") struct DecodeBatchTests {
    /// Polls every 20 ms for due packets of a host with 30 frames a second, for eight seconds.
    ///
    /// - Returns: For each poll with due packets, the milliseconds before the first frame's presentation, and the
    ///   number of packets.
    private func batches(jitterTarget: Int) -> [(lead: Double, count: Int)] {
        let start = MonotonicTime(nanoseconds: 0)
        let input = HostInput(
            id: "a",
            anchor: ProgramAnchor(start: start, firstSample: 0),
            jitterTarget: jitterTarget
        )
        var sent: Int64 = 0
        var batches: [(lead: Double, count: Int)] = []
        for now in stride(from: 0.0, to: 10_000, by: 20) {
            while Double(sent * 100 / 3) <= now {
                let time = sent * 100 / 3
                let frame = MediaPacket.h264Frame(
                    isKey: sent % 60 == 0,
                    isDisposable: false,
                    timestamp: time,
                    capacity: 4
                ) { $0.writeInteger(UInt32(1)) }
                input.receive(frame, arrival: start.advanced(milliseconds: time))
                sent += 1
            }
            let offset = input.advance(to: now, isAudible: true).offset
            var taken: [MediaPacket] = []
            while let packet = input.dequeueDuePacket(at: now) { taken.append(packet) }
            guard now >= 2000, let offset, let first = taken.first else { continue }
            batches.append((Double(first.timestamp) + offset - now, taken.count))
        }
        return batches
    }

    @Test("with enough delay several frames follow the first, which is decoded neither earlier nor later")
    func several() {
        let batches = batches(jitterTarget: 300)
        #expect(batches.count > 50 && batches.map(\.count).reduce(0, +) >= 238)
        for batch in batches {
            #expect(batch.lead > 79 && batch.lead <= 100 && (3...4).contains(batch.count))
        }
    }

    @Test("with less delay each frame is decoded on arrival")
    func single() {
        let batches = batches(jitterTarget: 60)
        #expect(batches.count > 230)
        #expect(batches.allSatisfy { $0.lead <= 61 && $0.lead > 39 && $0.count == 1 })
    }
}
