import Foundation
import Media
import NIOCore
import Stage
import TestSupport
import Testing

@testable import Mixer

@Suite("Recording of arrivals") struct ArrivalRecorderTests {
    private let path = NSTemporaryDirectory() + "arrivals-\(UUID().uuidString)"

    private func remove() { try? FileManager.default.removeItem(atPath: path) }

    private func audioPacket(_ timestamp: Int64, size: Int = 100) -> MediaPacket {
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

    @Test("what is written is read back: inputs, packets with their times, files, changes, the end")
    func roundTrip() throws {
        defer { remove() }
        let recorder = try ArrivalRecorder(path: path)
        let configuration = ProgramConfiguration(width: 320, height: 180, frameRate: FrameRate(30000, per: 1001))
        recorder.begin(configuration, firstSample: 1 << 40)
        let (first, second) = (
            recorder.addHost("a", jitterTarget: 60), recorder.addHost("b", jitterTarget: 300, isScreenShare: true)
        )
        let frame = MediaPacket(
            content: .video(.h264, isKey: true, isDisposable: false),
            timestamp: 1 << 33,
            compositionOffset: -40,
            body: ByteBuffer(bytes: [1, 2, 3, 4, 5, 6, 7]),
            headerLength: 5
        )
        recorder.record(frame, from: first, arrival: 5_000_000)
        recorder.record(audioPacket(-70), from: second, arrival: 4_999_000)
        recorder.record(.add(first), step: 0)
        recorder.record(.scene(ScheduledProgram.scene(["a", "b"])), step: 7)
        recorder.record(.jitterTarget("a", 90), step: 300)
        let bytes = ByteBuffer(bytes: (0..<100_000).map { UInt8(truncatingIfNeeded: $0 * 7) })
        #expect(recorder.addFile("asset:wall", bytes) == 0)
        recorder.record(.provide(0), step: 301)
        recorder.record(.music(true), step: 302)
        recorder.record(.degrade(.fewerFrames), step: 303)
        recorder.reached(400)
        recorder.close()
        #expect(recorder.end == .closed)
        #expect(try ArrivalReader(path: path).head == ArrivalHeader(configuration: configuration, firstSample: 1 << 40))
        let entries = try entries()
        #expect(entries.count == 12)
        guard case .input("a", 60, false) = entries[0], case .input("b", 300, true) = entries[1],
            case .packet(0, 5_000_000, let one) = entries[2], case .packet(1, 4_999_000, let two) = entries[3],
            case .change(0, .add(0)) = entries[4], case .change(7, .scene(let scene)) = entries[5],
            case .change(300, .jitterTarget("a", 90)) = entries[6], case .file("asset:wall", bytes) = entries[7],
            case .change(301, .provide(0)) = entries[8], case .change(302, .music(true)) = entries[9],
            case .change(303, .degrade(.fewerFrames)) = entries[10], case .end(400) = entries[11]
        else {
            Issue.record("\(entries)")
            return
        }
        #expect(one.content == frame.content && one.timestamp == 1 << 33 && one.compositionOffset == -40)
        #expect(one.body == frame.body && one.payload == ByteBuffer(bytes: [6, 7]))
        #expect(two.timestamp == -70 && two.body == audioPacket(-70).body && two.content == .audio(.aac))
        #expect(scene == ScheduledProgram.scene(["a", "b"]))
    }

    @Test("a truncated file contains all its complete entries")
    func cutOff() throws {
        defer { remove() }
        let recorder = try ArrivalRecorder(path: path)
        recorder.begin(ProgramConfiguration(), firstSample: 0)
        let input = recorder.addHost("a", jitterTarget: 300)
        for time in 0..<100 { recorder.record(audioPacket(Int64(time)), from: input, arrival: Int64(time)) }
        recorder.close()
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        try whole.dropLast(50).write(to: URL(fileURLWithPath: path))
        #expect(try entries().count == 100)
        let replay = try ArrivalReplay(path: path)
        #expect(replay.packets == 99)
    }

    @Test("a file has a maximum size and ends with a complete entry")
    func full() throws {
        defer { remove() }
        let recorder = try ArrivalRecorder(path: path, largestSize: 50_000)
        recorder.begin(ProgramConfiguration(), firstSample: 0)
        let input = recorder.addHost("a", jitterTarget: 300)
        for time in 0..<1000 { recorder.record(audioPacket(Int64(time)), from: input, arrival: Int64(time)) }
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

    @Test("a full disk ends the recording only")
    func diskFull() throws {
        let recorder = try ArrivalRecorder(path: "/dev/full")
        recorder.begin(ProgramConfiguration(), firstSample: 0)
        let input = recorder.addHost("a", jitterTarget: 300)
        for time in 0..<1000 { recorder.record(audioPacket(Int64(time)), from: input, arrival: Int64(time)) }
        recorder.close()
        #expect(recorder.end == .failed(ENOSPC))
        recorder.record(audioPacket(0), from: input, arrival: 0)
    }

    @Test("a file that is no recording, or of another version, is rejected")
    func refused() throws {
        defer { remove() }
        #expect(throws: ArrivalError.self) { _ = try ArrivalReplay(path: path) }
        try Data("not of ours".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: ArrivalError.self) { _ = try ArrivalReplay(path: path) }
        try Data("FLAR\u{9}".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: ArrivalError.self) { _ = try ArrivalReplay(path: path) }
        #expect(throws: ArrivalError.self) { _ = try ArrivalRecorder(path: "/nowhere/at/all") }
    }

    @Test("version 4 without degradation steps is read, and older versions are not")
    func versions() throws {
        defer { remove() }
        let recorder = try ArrivalRecorder(path: path)
        recorder.begin(ProgramConfiguration(), firstSample: 0)
        let input = recorder.addHost("a", jitterTarget: 300)
        recorder.record(.add(input), step: 0)
        recorder.record(audioPacket(0), from: input, arrival: 0)
        recorder.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let index = bytes.startIndex + ArrivalHeader.mark.count
        #expect(bytes[index] == 5)
        bytes[index] = 4
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(try entries().count == 4)
        #expect(try ArrivalReplay(path: path).packets == 1)
        for version: UInt8 in [3, 6] {
            bytes[index] = version
            try bytes.write(to: URL(fileURLWithPath: path))
            #expect(throws: ArrivalError.self) { _ = try ArrivalReplay(path: path) }
        }
    }

    @Test("a damaged recording is an error or ends early, and does not crash")
    func garbage() throws {
        defer { remove() }
        let recorder = try ArrivalRecorder(path: path)
        recorder.begin(ProgramConfiguration(), firstSample: 0)
        let input = recorder.addHost("a", jitterTarget: 300)
        recorder.record(.add(input), step: 0)
        for time in 0..<50 { recorder.record(audioPacket(Int64(time)), from: input, arrival: Int64(time)) }
        recorder.close()
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        var generator = SeededGenerator(seed: 9)
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

    @Test("impossible times in a packet or in the header are errors")
    func hugeTimes() throws {
        defer { remove() }
        func write(firstSample: Int64, elapsed: Int64, step: Int64) throws {
            var bytes = ByteBuffer(bytes: ArrivalHeader.mark)
            bytes.writeInteger(ArrivalHeader.version)
            let head = ArrivalHeader(configuration: ProgramConfiguration(), firstSample: firstSample)
            bytes.writeBlock(try JSONEncoder().encode(head))
            bytes.writeInteger(ArrivalHeader.Entry.input.rawValue)
            bytes.writeBlock("a".utf8)
            bytes.writeCount(.max)
            bytes.writeInteger(UInt8(0))
            bytes.writeInteger(ArrivalHeader.Entry.packet.rawValue)
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
