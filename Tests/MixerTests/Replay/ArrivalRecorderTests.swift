import Foundation
import Media
import NIOCore
import Stage
import Testing

@testable import Mixer

@Suite("A recording of arrivals") struct ArrivalRecorderTests {
    private let path = NSTemporaryDirectory() + "arrivals-\(UUID().uuidString)"

    private func remove() { try? FileManager.default.removeItem(atPath: path) }

    private func sound(_ timestamp: Int64, size: Int = 100) -> MediaPacket {
        .aacFrame(timestamp: timestamp, capacity: size) {
            $0.writeRepeatingByte(UInt8(truncatingIfNeeded: timestamp), count: size)
        }
    }

    private func entries() throws -> [ArrivalReader.Entry] {
        var reader = try ArrivalReader(path: path)
        var entries: [ArrivalReader.Entry] = []
        while let entry = try reader.next() { entries.append(entry) }
        return entries
    }

    @Test("What is written is what is read: inputs, packets with their times, files, changes, the end")
    func roundTrip() throws {
        defer { remove() }
        let recorder = try ArrivalRecorder(path: path)
        let configuration = ProgramConfiguration(width: 320, height: 180, frameRate: FrameRate(30000, per: 1001))
        recorder.begin(configuration, firstSample: 1 << 40)
        let (first, second) = (
            recorder.addHost("a", jitterTarget: 60), recorder.addHost("b", jitterTarget: 300, mayStandStill: true)
        )
        let picture = MediaPacket(
            content: .picture(.h264, isKey: true, isDisposable: false),
            timestamp: 1 << 33,
            compositionOffset: -40,
            body: ByteBuffer(bytes: [1, 2, 3, 4, 5, 6, 7]),
            headerLength: 5
        )
        recorder.record(picture, from: first, arrival: 5_000_000)
        recorder.record(sound(-70), from: second, arrival: 4_999_000)
        recorder.record(.add(first), step: 0)
        recorder.record(.scene(Timetable.scene(["a", "b"])), step: 7)
        recorder.record(.jitterTarget("a", 90), step: 300)
        let bytes = ByteBuffer(bytes: (0..<100_000).map { UInt8(truncatingIfNeeded: $0 * 7) })
        #expect(recorder.addFile("asset:wall", bytes) == 0)
        recorder.record(.provide(0), step: 301)
        recorder.record(.music(true), step: 302)
        recorder.record(.degrade(.fewerPictures), step: 303)
        recorder.reached(400)
        recorder.close()
        #expect(recorder.end == .closed)
        #expect(try ArrivalReader(path: path).head == ArrivalHead(configuration: configuration, firstSample: 1 << 40))
        let entries = try entries()
        #expect(entries.count == 12)
        guard case .input("a", 60, false) = entries[0], case .input("b", 300, true) = entries[1],
            case .packet(0, 5_000_000, let one) = entries[2], case .packet(1, 4_999_000, let two) = entries[3],
            case .change(0, .add(0)) = entries[4], case .change(7, .scene(let scene)) = entries[5],
            case .change(300, .jitterTarget("a", 90)) = entries[6], case .file("asset:wall", bytes) = entries[7],
            case .change(301, .provide(0)) = entries[8], case .change(302, .music(true)) = entries[9],
            case .change(303, .degrade(.fewerPictures)) = entries[10], case .end(400) = entries[11]
        else {
            Issue.record("\(entries)")
            return
        }
        #expect(one.content == picture.content && one.timestamp == 1 << 33 && one.compositionOffset == -40)
        #expect(one.body == picture.body && one.payload == ByteBuffer(bytes: [6, 7]))
        #expect(two.timestamp == -70 && two.body == sound(-70).body && two.content == .sound(.aac))
        #expect(scene == Timetable.scene(["a", "b"]))
    }

    @Test("A file that was cut off holds all that is whole in it")
    func cutOff() throws {
        defer { remove() }
        let recorder = try ArrivalRecorder(path: path)
        recorder.begin(ProgramConfiguration(), firstSample: 0)
        let input = recorder.addHost("a", jitterTarget: 300)
        for time in 0..<100 { recorder.record(sound(Int64(time)), from: input, arrival: Int64(time)) }
        recorder.close()
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        try whole.dropLast(50).write(to: URL(fileURLWithPath: path))
        #expect(try entries().count == 100)
        let replay = try ArrivalReplay(path: path)
        #expect(replay.packets == 99)
    }

    @Test("A file has a largest size, and ends whole")
    func full() throws {
        defer { remove() }
        let recorder = try ArrivalRecorder(path: path, largestSize: 50_000)
        recorder.begin(ProgramConfiguration(), firstSample: 0)
        let input = recorder.addHost("a", jitterTarget: 300)
        for time in 0..<1000 { recorder.record(sound(Int64(time)), from: input, arrival: Int64(time)) }
        recorder.close()
        #expect(recorder.end == .full)
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        #expect((49_000...50_010).contains(size ?? 0))
        let entries = try entries()
        guard case .end = entries.last else {
            Issue.record("no end")
            return
        }
        #expect(entries.count > 400)
    }

    @Test("A disk that is full ends the recording, and only that")
    func diskFull() throws {
        let recorder = try ArrivalRecorder(path: "/dev/full")
        recorder.begin(ProgramConfiguration(), firstSample: 0)
        let input = recorder.addHost("a", jitterTarget: 300)
        for time in 0..<1000 { recorder.record(sound(Int64(time)), from: input, arrival: Int64(time)) }
        recorder.close()
        #expect(recorder.end == .failed(ENOSPC))
        recorder.record(sound(0), from: input, arrival: 0)
    }

    @Test("What is no recording, or of another version, is refused")
    func refused() throws {
        defer { remove() }
        #expect(throws: ArrivalError.self) { _ = try ArrivalReplay(path: path) }
        try Data("not of ours".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: ArrivalError.self) { _ = try ArrivalReplay(path: path) }
        try Data("FLAR\u{9}".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: ArrivalError.self) { _ = try ArrivalReplay(path: path) }
        #expect(throws: ArrivalError.self) { _ = try ArrivalRecorder(path: "/nowhere/at/all") }
    }

    @Test("Of the versions before, that without steps of degradation is read, and older ones are not")
    func versions() throws {
        defer { remove() }
        let recorder = try ArrivalRecorder(path: path)
        recorder.begin(ProgramConfiguration(), firstSample: 0)
        let input = recorder.addHost("a", jitterTarget: 300)
        recorder.record(.add(input), step: 0)
        recorder.record(sound(0), from: input, arrival: 0)
        recorder.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let place = bytes.startIndex + ArrivalHead.mark.count
        #expect(bytes[place] == 5)
        bytes[place] = 4
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(try entries().count == 4)
        #expect(try ArrivalReplay(path: path).packets == 1)
        for version: UInt8 in [3, 6] {
            bytes[place] = version
            try bytes.write(to: URL(fileURLWithPath: path))
            #expect(throws: ArrivalError.self) { _ = try ArrivalReplay(path: path) }
        }
    }

    @Test("Rubbish in place of a recording is an error or an end, and never more")
    func rubbish() throws {
        defer { remove() }
        let recorder = try ArrivalRecorder(path: path)
        recorder.begin(ProgramConfiguration(), firstSample: 0)
        let input = recorder.addHost("a", jitterTarget: 300)
        recorder.record(.add(input), step: 0)
        for time in 0..<50 { recorder.record(sound(Int64(time)), from: input, arrival: Int64(time)) }
        recorder.close()
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        var generator = SplitMix(seed: 9)
        for _ in 0..<200 {
            var damaged = whole
            for _ in 0..<4 {
                damaged[Int.random(in: 0..<damaged.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            try damaged.write(to: URL(fileURLWithPath: path))
            do {
                #expect(try ArrivalReplay(path: path).packets <= 50)
            } catch {
                #expect(!error.description.isEmpty)
            }
        }
    }

    @Test("Times that no program reaches, in a packet or in the head, are damage")
    func hugeTimes() throws {
        defer { remove() }
        func write(firstSample: Int64, elapsed: Int64, step: Int64) throws {
            var bytes = ByteBuffer(bytes: ArrivalHead.mark)
            bytes.writeInteger(ArrivalHead.version)
            let head = ArrivalHead(configuration: ProgramConfiguration(), firstSample: firstSample)
            bytes.writeBlock(try JSONEncoder().encode(head))
            bytes.writeInteger(ArrivalHead.Entry.input.rawValue)
            bytes.writeBlock("a".utf8)
            bytes.writeCount(.max)
            bytes.writeInteger(UInt8(0))
            bytes.writeInteger(ArrivalHead.Entry.packet.rawValue)
            bytes.writeCount(0)
            bytes.writeSigned(elapsed)
            bytes.writeInteger(UInt8(2))
            bytes.writeSigned(step)
            bytes.writeSigned(0)
            bytes.writeCount(2)
            bytes.writeBlock([0xAF, 1, 2])
            try Data(bytes.readableBytesView).write(to: URL(fileURLWithPath: path))
        }
        try write(firstSample: 0, elapsed: 1, step: 1)
        #expect(try entries().count == 2)
        for (sample, elapsed, step) in [(0, 0, Int64.max), (0, 0, .min), (0, .max, 0), (.max, 0, 0), (.min, 0, 0)]
            as [(Int64, Int64, Int64)]
        {
            try write(firstSample: sample, elapsed: elapsed, step: step)
            #expect(throws: ArrivalError.self) { try entries() }
        }
    }
}
